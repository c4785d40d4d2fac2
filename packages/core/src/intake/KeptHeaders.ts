/**
 * What a source keeps of a request besides the body and the headers that every source keeps: headers that it names, and
 * its query string. Some headers also become fields of the event. No setting keeps headers that carry secrets.
 *
 * Decision: docs/decisions/0059-headers-that-a-source-keeps.md
 */
import type { KeptHeader, KeptParts } from "../event/EventLog.ts"
import type { JsonObject } from "../json/Json.ts"
import { isAlwaysKept, isSecretHeader } from "../network/HeaderNames.ts"
import type { KeptSettings } from "../source/Source.ts"
import { headerText } from "../text/HeaderText.ts"
import type { RequestHeaders } from "../verification/RequestFields.ts"

/** The parts of a request that the source's settings keep. */
export const keptParts = (headers: RequestHeaders, query: string, settings: KeptSettings): KeptParts => ({
  headers: keptHeaders(headers, settings),
  query: settings.query ? query.toWellFormed().replaceAll("\0", "\uFFFD") : null,
})

/** In the request's order. */
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
    // Node passes a list for headers such as `Set-Cookie`, which no code here reads.
    if (typeof value !== "string" || isAlwaysKept(name) || isSecretHeader(name)) continue
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) {
      kept.push({ name, value: headerText(value) })
    }
  }
  return kept
}

/** The fields under the names that the source has given them. */
export const headerFields = (headers: RequestHeaders, { fields }: KeptSettings): JsonObject => {
  const found = new Map<string, string>()
  for (const name of fields) {
    const lower = name.toLowerCase()
    const value = isSecretHeader(lower) ? undefined : headers[lower]
    // The name may be that of a property that every object inherits, whose value is not text.
    if (typeof value === "string") found.set(name, headerText(value))
  }
  return found
}

/** The length of the header fields, in characters: every object of a batch gets all of them. */
export const headerFieldsLength = (headers: RequestHeaders, settings: KeptSettings | null): number => {
  let length = 0
  if (settings !== null) for (const name of settings.fields) length += headers[name.toLowerCase()]?.length ?? 0
  return length
}
