/**
 * Decodes a form once its charsets are decided, and reports the values that were read differently from the form as a
 * whole.
 */
import { JsonNumber } from "../json/Json.ts"
import type { Json } from "../json/Json.ts"
import { charsetOf, decode, isAscii, UTF_8 } from "../text/Charset.ts"
import type { Charset, CharsetDecision } from "../text/Charset.ts"
import { type FormCharsets, staysUtf8 } from "./FormCharsets.ts"
import { OtherReadings, type OtherReading, type ReadingPlace } from "../event/OtherReadings.ts"
import { unescapeName } from "./PartHeaders.ts"
import type { RawField, RawFile, RawForm, Unread } from "./RawForm.ts"

export interface FormText {
  readonly fields: ReadonlyArray<readonly [name: string, value: Json]>
  readonly replaced: number
  /** Values with letters beyond ASCII that were not read in the request's charset. */
  readonly others: ReadonlyArray<OtherReading>
}

/** Decodes all fields of a form. `place`: their place in the request; `main`: the charset of the request. */
export const decodeForm = (
  form: RawForm,
  charsets: FormCharsets,
  place: ReadingPlace = "body",
  main: Charset = charsets.decision.charset,
): FormText => {
  const { bytes } = form
  const { decision, isUniform, byField } = charsets
  const others = new OtherReadings()
  let replaced = 0
  const read = (start: number, end: number, charset: Charset): string => {
    const decoded = decode(bytes, charset, start, end)
    replaced += decoded.replaced
    return decoded.text
  }
  const decisionOf = (start: number, end: number, unclear: CharsetDecision): CharsetDecision =>
    isUniform || !staysUtf8(bytes, start, end) ? unclear : BY_ITSELF
  const fileOf = (file: RawFile, size: number, field: string): Json => {
    const { name, type } = file
    const as = { charset: charsets.fileNames, decidedBy: decision.decidedBy } as const
    return new Map<string, Json>([
      [
        "name",
        typeof name === "string"
          ? name
          : unescapeName(readAs(name, decisionOf(name.start, name.end, as), "file_name", field)),
      ],
      ["type", type],
      ["size", new JsonNumber(String(size))],
    ])
  }
  const readAs = (
    { start, end }: { readonly start: number; readonly end: number },
    as: CharsetDecision,
    at: ReadingPlace,
    field: string,
  ): string => {
    if (as.charset !== main && !isAscii(bytes, start, end)) others.add(as, at, field)
    return read(start, end, as.charset)
  }
  const ownOf = ({ part, valueStart, valueEnd }: RawField): CharsetDecision | null => {
    if (part === null || !charsets.heedsParts) return null
    const charset = charsetOf(part.charset)
    if (charset === null) return null
    if (charsets.partsMustFit && decode(bytes, charset, valueStart, valueEnd).replaced > 0) return null
    return { charset, decidedBy: "part" }
  }
  const namedOf = (name: string): CharsetDecision => {
    const charset = byField.get(name)
    return charset === undefined ? decision : { charset, decidedBy: "named_charsets" }
  }
  const valueOf = (field: RawField, name: string): Json => {
    const { part, valueStart, valueEnd } = field
    if (part !== null && part.file !== null) return fileOf(part.file, valueEnd - valueStart, name)
    const as = ownOf(field) ?? decisionOf(valueStart, valueEnd, namedOf(name))
    return readAs({ start: valueStart, end: valueEnd }, as, place, name)
  }
  const fields = form.fields.map((field) => {
    const { nameStart, nameEnd, part } = field
    if (part !== null && part.name !== null) return [part.name, valueOf(field, part.name)] as const
    const text = read(nameStart, nameEnd, decisionOf(nameStart, nameEnd, decision).charset)
    const name = part === null ? text : unescapeName(text)
    return [name, valueOf(field, name)] as const
  })
  return { fields, replaced, others: others.list() }
}

/** Decodes the rest of a form, from where its fields could not be read. */
export const decodeRest = (bytes: Buffer, { decision, isUniform }: FormCharsets, { from, to }: Unread) =>
  decode(bytes, isUniform || !staysUtf8(bytes, from, to) ? decision.charset : UTF_8, from, to)

const BY_ITSELF: CharsetDecision = { charset: UTF_8, decidedBy: "data" }
