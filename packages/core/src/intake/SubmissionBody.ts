/**
 * Reads the body of a submission as its content type says, or as what it turns out to be. A body that does not parse is
 * kept as text, with the reason in words.
 */
import { Result } from "effect"
import { isJsonList, type Json, type JsonObject } from "../json/Json.ts"
import { decode, UTF_8, type CharsetDecision } from "../text/Charset.ts"
import { decodeJson, isWide, jsonCharset } from "../text/JsonCharset.ts"
import type { BodyKind, ContentType } from "../form/ContentType.ts"
import { gatherFields, withQueryFields } from "./Fields.ts"
import { parseFormBody } from "../form/FormBody.ts"
import { beginsAsJson, isMeantAsJson, multipartBoundaryOf, readsAsForm } from "../form/FormGuess.ts"
import { decideCharset, decideFormCharsets, type CharsetSignals } from "../form/FormCharsets.ts"
import { decodeForm, decodeRest, type FormText } from "../form/FormText.ts"
import { emptyJsonNotes, jsonErrorInWords, type JsonSyntaxError, parseJson } from "../json/ParseJson.ts"
import type { SentTexts } from "../json/JsonSlices.ts"
import { type JsonLines, readJsonLines } from "./JsonLines.ts"
import { notAnObject } from "./NotAnObject.ts"
import { parseMultipartBody } from "../form/MultipartBody.ts"
import type { OtherReading } from "../event/OtherReadings.ts"
import { parsePlainForm } from "../form/PlainForm.ts"
import type { RawForm } from "../form/RawForm.ts"
import type { ParsedSubmission, SentJson, Submission } from "./Submission.ts"

interface ReadBody {
  readonly objects: ReadonlyArray<JsonObject>
  /** The texts of the objects, if they can be cut out of the body for less than writing them. */
  readonly sent?: Pick<SentTexts, "of" | "whole">
  /** The number of objects of a batch that has too many to be parsed. */
  readonly count?: number
  /** For JSON, the memory that it takes; see `CELL_BYTES`. */
  readonly cells?: number
  readonly shape: "object" | "batch"
  readonly refusal: ParsedSubmission["refusal"]
  readonly isForm: boolean
  /** The body, or the rest of it, did not parse and is in `_raw`. */
  readonly keptAsRaw?: true
  readonly decision: CharsetDecision
  readonly replaced: number
  readonly others?: ReadonlyArray<OtherReading>
}

const AS_JSON: CharsetDecision = { charset: UTF_8, decidedBy: "json" }

const asJson = (body: Buffer, declared: string | null): CharsetDecision => {
  const charset = jsonCharset(body, declared)
  if (charset === UTF_8) return AS_JSON
  return { charset, decidedBy: isWide(charset) ? "json" : "header" }
}

const oneObject = (object: JsonObject, decision: CharsetDecision, replaced: number): ReadBody => ({
  objects: [object],
  shape: "object",
  refusal: null,
  isForm: false,
  decision,
  replaced,
})

/** Total: any bytes give a result. */
export const bodyOf = (
  body: Buffer,
  { kind, boundary, charset }: ContentType,
  signals: CharsetSignals,
  { json, lines }: Submission,
): ReadBody => {
  if (body.length === 0) return oneObject(new Map(), AS_JSON, 0)
  if (kind === "multipart") return formBody(parseMultipartBody(body, boundary), signals)
  const decision = asJson(body, charset)
  if (kind === "json") return jsonBody(json ?? readJson(body, decision), decision)
  if (kind === "lines") return linesBody(body, lines, decision)
  if (kind === "urlencoded") {
    return mislabelledJson(body, json, signals, decision) ?? formBody(parseFormBody(body), signals)
  }
  return otherBody(body, kind, signals, json, decision)
}

const readJson = (body: Buffer, { charset }: CharsetDecision): SentJson => {
  const decoded = decodeJson(body, charset)
  const notes = emptyJsonNotes()
  return { decoded, notes, parsed: parseJson(decoded.text, { notes }) }
}

const jsonBody = ({ decoded, notes, parsed }: SentJson, decision: CharsetDecision): ReadBody => {
  if (Result.isFailure(parsed)) {
    const detail = jsonErrorInWords(parsed.failure)
    const kept = oneObject(unparsedFields(decoded.text, detail), decision, decoded.replaced)
    return { ...kept, keptAsRaw: true, refusal: { error: "bad_json", detail } }
  }
  const value = parsed.success
  const { cells } = notes
  const replaced = decoded.replaced + notes.replaced
  const sent = notes.sent.textsIn(decoded.text)
  if (value instanceof Map) return { ...oneObject(value, decision, replaced), cells, sent }
  const detail = notAnObject(value, decoded.text, notes)
  if (detail !== null) {
    const refusal = { error: "not_an_object", detail } as const
    return { ...oneObject(valueKept(value, detail), decision, replaced), cells, refusal }
  }
  return { ...oneObject(new Map(), decision, replaced), cells, objects: objectsOf(value), shape: "batch", sent }
}

const objectsOf = (value: Json): ReadonlyArray<JsonObject> =>
  isJsonList(value) ? value.filter((item) => item instanceof Map) : []

/** Lines of JSON form a batch, like a list of objects, with the same refusals. */
const linesBody = (body: Buffer, read: JsonLines | undefined, decision: CharsetDecision): ReadBody => {
  const lines = read ?? readJsonLines(decodeJson(body, decision.charset))
  const { replaced, cells, values } = lines
  const batch: ReadBody = { ...oneObject(new Map(), decision, replaced), cells, objects: [], shape: "batch" }
  switch (lines.outcome) {
    case "too_many":
      return { ...batch, count: lines.count }
    case "bad_json": {
      const { detail } = lines
      const kept = oneObject(unparsedFields(decodeJson(body, decision.charset).text, detail), decision, replaced)
      return { ...kept, keptAsRaw: true, refusal: { error: "bad_json", detail } }
    }
    case "not_an_object": {
      const { detail } = lines
      return {
        ...oneObject(valueKept(values, detail), decision, replaced),
        cells,
        refusal: { error: "not_an_object", detail },
      }
    }
    case "objects":
      return { ...batch, objects: objectsOf(values), sent: lines.sent }
  }
}

/** A body that is JSON, or is meant as JSON, is not a form that a person filled in, whatever its content type says. */
const mislabelledJson = (
  body: Buffer,
  json: SentJson | undefined,
  signals: CharsetSignals,
  decision: CharsetDecision,
): ReadBody | null => {
  if (!beginsAsJson(body) && !isWide(decision.charset)) return null
  const read = json ?? readJson(body, decision)
  const { parsed } = read
  if (Result.isSuccess(parsed)) return undeclaredJson(read, parsed.success, decision)
  return isMeantAsJson(body) ? textBody(body, signals, read, parsed.failure, decision) : null
}

/** JSON without a JSON content type: a value other than an object never becomes a batch. */
const undeclaredJson = ({ decoded, notes }: SentJson, value: Json, decision: CharsetDecision): ReadBody => {
  const { cells } = notes
  const replaced = decoded.replaced + notes.replaced
  if (value instanceof Map) {
    return { ...oneObject(value, decision, replaced), cells, sent: notes.sent.textsIn(decoded.text) }
  }
  const detail =
    notAnObject(value, decoded.text, notes) ?? "a list of objects is a batch only under a JSON content type"
  return { ...oneObject(valueKept(value, detail), decision, replaced), cells }
}

const formBody = (form: RawForm, signals: CharsetSignals): ReadBody => {
  const charsets = decideFormCharsets(form, signals)
  const { decision } = charsets
  const { fields, others, ...text } = decodeForm(form, charsets)
  const faults = encodingFaults(form, fields)
  const sent = gatherFields(fields)
  const payload = faults === null ? sent : withQueryFields(sent, new Map([["_parse_error", faults]]))
  if (form.unread === null) return { ...oneObject(payload, decision, text.replaced), others, isForm: true }
  const { reason, offset } = form.unread
  const rest = decodeRest(form.bytes, charsets, form.unread)
  const kept = unparsedFields(rest.text, `not a readable form: ${reason}, at byte ${offset} of the body`)
  const whole = oneObject(withQueryFields(payload, kept), decision, text.replaced + rest.replaced)
  return { ...whole, others, isForm: true, keptAsRaw: true }
}

/** Says which values of a form could not be decoded from their transfer encodings; null if all could. */
const encodingFaults = ({ fields }: RawForm, read: FormText["fields"]): string | null => {
  const faults = fields.flatMap(({ part }, index) => {
    const fault = part?.encoded?.fault ?? null
    return fault === null ? [] : [`the value of "${read[index]![0].slice(0, MAX_NAME)}" is kept as sent: ${fault}`]
  })
  if (faults.length === 0) return null
  const more = faults.length > MAX_FAULTS ? `; and ${faults.length - MAX_FAULTS} more` : ""
  return faults.slice(0, MAX_FAULTS).join("; ").toWellFormed() + more
}

const MAX_FAULTS = 5
const MAX_NAME = 100

/**
 * A body whose content type is neither JSON nor a form: tried as JSON, then as a form, else text. A value other than an
 * object never becomes a batch.
 */
const otherBody = (
  body: Buffer,
  kind: BodyKind,
  signals: CharsetSignals,
  json: SentJson | undefined,
  decision: CharsetDecision,
): ReadBody => {
  const read = json ?? readJson(body, decision)
  const { parsed } = read
  if (Result.isSuccess(parsed)) return undeclaredJson(read, parsed.success, decision)
  if (readsAsForm(body)) return formBody(parseFormBody(body), signals)
  const boundary = multipartBoundaryOf(body)
  if (boundary !== null) return formBody(parseMultipartBody(body, boundary), signals)
  const plainForm = kind === "plain" ? parsePlainForm(body) : null
  if (plainForm !== null) return formBody(plainForm, signals)
  return textBody(body, signals, read, parsed.failure, decision)
}

const textBody = (
  body: Buffer,
  signals: CharsetSignals,
  { decoded }: SentJson,
  error: JsonSyntaxError,
  decision: CharsetDecision,
): ReadBody => {
  const wide = isWide(decision.charset)
  const as: CharsetDecision = wide ? { ...decision, decidedBy: "data" } : decideCharset(body, signals)
  const { text, replaced } = wide ? decoded : decode(body, as.charset)
  const reason = `neither a form nor JSON; ${jsonErrorInWords(error)}`
  return { ...oneObject(unparsedFields(text, reason), as, replaced), keptAsRaw: true }
}

/** The fields of a text that did not parse: the text and the reason. */
export const unparsedFields = (text: string, reason: string): JsonObject =>
  new Map<string, Json>([
    ["_raw", text],
    ["_parse_error", reason],
  ])

const valueKept = (value: Json, reason: string): JsonObject =>
  new Map<string, Json>([
    ["_value", value],
    ["_parse_error", reason],
  ])
