/**
 * What a source keeps of a request besides its body and the headers that every source keeps: the headers that it names, and
 * its query string. Some headers become fields of the event, too. What carries a secret is kept by no setting.
 *
 * Decision: docs/decisions/0059-headers-that-a-source-keeps.md
 */
import type { KeptHeader, KeptParts } from "../event/EventLog.ts"
import type { JsonObject } from "../json/Json.ts"
import { isSecretHeader } from "../source/HeaderNames.ts"
import type { KeptSettings } from "../source/Source.ts"
import { headerText } from "../text/HeaderText.ts"
import type { RequestHeaders } from "./IntakeRequest.ts"

/** The original request has a place of its own for each of these. */
const KEPT_ALWAYS: ReadonlySet<string> = new Set(["content-type", "referer", "origin", "user-agent", "accept-language"])

export const keptParts = (headers: RequestHeaders, query: string, settings: KeptSettings): KeptParts => ({
  headers: keptHeaders(headers, settings),
  query: settings.query ? query.toWellFormed().replaceAll("\0", "\uFFFD") : null,
})

/** In the order in which the request has them. */
const keptHeaders = (headers: RequestHeaders, { headers: named, fields }: KeptSettings): ReadonlyArray<KeptHeader> => {
  const names = new Set<string>()
  const prefixes: Array<string> = []
  for (const name of [...named, ...fields]) {
    const lower = name.toLowerCase()
    if (lower.endsWith("*")) prefixes.push(lower.slice(0, -1))
    else names.add(lower)
  }
  const kept: Array<KeptHeader> = []
  for (const [name, value] of Object.entries(headers)) {
    // Node has a list for a header of which no code here reads more than one.
    if (typeof value !== "string" || KEPT_ALWAYS.has(name) || isSecretHeader(name)) continue
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) {
      kept.push({ name, value: headerText(value) })
    }
  }
  return kept
}

/** Under the names that the source has given them. */
export const headerFields = (headers: RequestHeaders, { fields }: KeptSettings): JsonObject => {
  const found = new Map<string, string>()
  for (const name of fields) {
    const lower = name.toLowerCase()
    const value = isSecretHeader(lower) ? undefined : headers[lower]
    // A name may be one that every object has: what stands there is no text.
    if (typeof value === "string") found.set(name, headerText(value))
  }
  return found
}

/** How many characters the fields of headers have: every object of a batch gets them all. */
export const headerFieldsLength = (headers: RequestHeaders, settings: KeptSettings | null): number => {
  let length = 0
  if (settings !== null) for (const name of settings.fields) length += headers[name.toLowerCase()]?.length ?? 0
  return length
}
