/**
 * Determines from the Content-Type header how a body is to be read.
 *
 * Decision: docs/decisions/0005-bodies-and-their-content-type.md
 */
import { paramText, parseHeaderValue } from "./HeaderValue.ts"

/**
 * `lines`: JSON texts, one per line or each after a record separator. `plain`: a type that HTML forms can use as well.
 * `other`: any other declared type. `none`: no declared type.
 */
export type BodyKind = "json" | "lines" | "urlencoded" | "multipart" | "plain" | "other" | "none"

export interface ContentType {
  readonly kind: BodyKind
  readonly charset: string | null
  readonly boundary: string | null
}

const UNKNOWN: ContentType = { kind: "none", charset: null, boundary: null }

const PLAIN_JSON: ContentType = { kind: "json", charset: null, boundary: null }

/** Never fails: an unknown type is `other`; a missing or empty header is `none`. */
export const parseContentType = (header: string | undefined): ContentType => {
  if (header === undefined) return UNKNOWN
  if (header === "application/json") return PLAIN_JSON
  const { value, params } = parseHeaderValue(header)
  return {
    // A header sent twice arrives as one, joined by a comma.
    kind: kindOf(value.split(",", 1)[0]!.trimEnd()),
    charset: paramText(header, params.get("charset")),
    boundary: paramText(header, params.get("boundary")),
  }
}

/** Most of these are unregistered. Spring uses `application/stream+json`. */
const LINES =
  /^(?:(?:application|text)\/(?:.*\+)?(?:x-)?(?:ndjson|ldjson|json-?l|json-?lines|json-seq)|application\/stream\+json)$/

const kindOf = (type: string): BodyKind => {
  if (type.includes("json") && LINES.test(type)) return "lines"
  if (type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"))) return "json"
  if (type === "application/x-www-form-urlencoded") return "urlencoded"
  if (type === "multipart/form-data") return "multipart"
  if (type === "text/plain") return "plain"
  return type === "" ? "none" : "other"
}
