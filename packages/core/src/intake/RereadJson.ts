/**
 * Reads the JSON of a stored request in another charset. JSON in UTF-8, UTF-16 or UTF-32 shows its own charset, so only other
 * bytes are read again. The event must have the values that the bytes gave before; those of headers and of the query stay.
 */
import { isUtf8 } from "node:buffer"
import { parseContentType } from "../form/ContentType.ts"
import { staysUtf8 } from "../form/FormCharsets.ts"
import { isProofField } from "../proof/FormProof.ts"
import { isJsonList, type Json, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { type Charset, decode, type Decoded, isAscii, UTF_8 } from "../text/Charset.ts"
import { isWide, jsonCharset } from "../text/JsonCharset.ts"
import type { ChangedValue, Reread, RereadAs, UnreadableReason } from "./RereadOriginal.ts"
import { bodyOf } from "./SubmissionBody.ts"

/** Null if the body was not read as JSON. `past`: the charsets in which it may have been read, the likeliest first. */
export const rereadJson = (
  body: Buffer,
  contentType: string | null,
  payload: JsonObject,
  past: ReadonlyArray<Charset>,
  { charset, allValues }: RereadAs,
): Reread | UnreadableReason | null => {
  const { kind, boundary, charset: declared } = parseContentType(contentType ?? undefined)
  if (kind === "multipart" || body.length === 0) return null
  const objectsIn = ({ text }: Decoded): ReadonlyArray<JsonObject> | null => {
    const type = { kind, boundary, charset: null }
    const { isForm, keptAsRaw, objects } = bodyOf(Buffer.from(text), type, { source: null, header: null }, NOT_READ)
    return isForm || (keptAsRaw === true && kind !== "json" && kind !== "lines") ? null : objects
  }
  const readings = past.flatMap((one) => [decodeStrings(body, one), decode(body, one)])
  const [first] = readings
  if (first === undefined || objectsIn(first) === null) return null
  if (isWide(jsonCharset(body, declared))) return "not_a_form"
  if (isUtf8(body)) return isAscii(body) ? "no_text" : "not_a_form"

  const decoded = allValues ? decode(body, charset) : decodeStrings(body, charset)
  const now = objectsIn(decoded)
  if (now === null) return "unexplained"
  for (const reading of readings) {
    const found = new Map<string, Merged>()
    let most = 0
    for (const [place, before] of (objectsIn(reading) ?? []).entries()) {
      const after = now[place]
      const merged = after === undefined || before.size < most ? null : mergeObject(payload, before, after)
      if (merged === null) continue
      // The fields of a smaller object may be those of a larger one, beside fields of headers.
      if (before.size > most) found.clear()
      most = before.size
      found.set(jsonText(merged.payload), merged)
    }
    const [one, other] = found
    if (one === undefined) continue
    // Two objects of a batch that were read alike may differ now.
    if (other !== undefined) return "unexplained"
    const [text, merged] = one
    const { replaced } = decoded
    return { ...merged, text, charset: charset.name, charsetFrom: "reread", replaced, others: [] }
  }
  return "unexplained"
}

type Merged = Pick<Reread, "payload" | "changed">

const NOT_READ = { body: new Uint8Array(), contentType: undefined, query: "", encoding: null }

const QUOTE = 34

/** Decodes each string by itself: what is valid UTF-8 stays UTF-8. No charset has the byte of a quote inside a letter. */
const decodeStrings = (body: Buffer, charset: Charset): Decoded => {
  const texts: Array<string> = []
  let replaced = 0
  for (let start = 0; start < body.length;) {
    const quote = body.indexOf(QUOTE, start)
    const end = quote === -1 ? body.length : quote + 1
    const isKept = staysUtf8(body, start, quote === -1 ? end : quote)
    const read = decode(body, isKept ? UTF_8 : charset, start, end)
    texts.push(read.text)
    replaced += read.replaced
    start = end
  }
  return { text: texts.join(""), replaced }
}

/** The event with the values of `after` where it has those of `before`; null if it does not have them. */
const mergeObject = (payload: JsonObject, before: JsonObject, after: JsonObject): Merged | null => {
  if (before.size !== after.size) return null
  const news = new Map<string, readonly [name: string, value: Json]>()
  const changed: Array<ChangedValue> = []
  const [entries, others] = [[...before], [...after]]
  for (const [n, [name, old]] of entries.entries()) {
    const held = payload.get(name)
    if (held === undefined) {
      if (isProofField(name)) continue
      return null
    }
    const [newName, value] = others[n]!
    const merged = mergeValue(held, old, value)
    if (merged === undefined) return null
    news.set(name, [newName, merged])
    const [was, is] = [textOf(held), textOf(merged)]
    const fieldBefore = name === newName ? null : name
    if (was !== is || fieldBefore !== null) changed.push({ field: newName, fieldBefore, before: was, after: is })
  }
  const merged = new Map([...payload].map(([name, value]) => news.get(name) ?? ([name, value] as const)))
  return merged.size === payload.size ? { payload: merged, changed } : null
}

/** Values of the query come before those of the body. */
const mergeValue = (held: Json, old: Json, value: Json): Json | undefined => {
  if (jsonText(held) === jsonText(old)) return value
  if (!isJsonList(held)) return undefined
  const [olds, values] = [listOf(old), listOf(value)]
  const begin = held.length - olds.length
  return begin > 0 && jsonText(held.slice(begin)) === jsonText([...olds])
    ? [...held.slice(0, begin), ...values]
    : undefined
}

const listOf = (value: Json): ReadonlyArray<Json> => (isJsonList(value) ? value : [value])

/** A value as a text: a text itself, otherwise its JSON. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : jsonText(value))
