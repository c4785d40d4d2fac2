/** What a content type says of how to read a body. */
import { paramText, parseHeaderValue } from "./HeaderValue.ts"

export type BodyKind = "json" | "urlencoded" | "multipart" | "other"

export interface ContentType {
  readonly kind: BodyKind
  readonly charset: string | null
  readonly boundary: string | null
}

const UNKNOWN: ContentType = { kind: "other", charset: null, boundary: null }

const PLAIN_JSON: ContentType = { kind: "json", charset: null, boundary: null }

/** Never refuses: what it does not know, or no header at all, is `other`. */
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

const kindOf = (type: string): BodyKind => {
  if (type === "application/json" || (type.startsWith("application/") && type.endsWith("+json"))) return "json"
  if (type === "application/x-www-form-urlencoded") return "urlencoded"
  return type === "multipart/form-data" ? "multipart" : "other"
}
