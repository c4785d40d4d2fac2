/**
 * Decodes a form. The charset is decided once for the whole form; then every name and value is decoded. The signals, by
 * precedence: the source's setting, the header (for a single value, the header of its part), the field `_charset_`, the
 * data.
 */
import { isUtf8 } from "node:buffer"
import { JsonNumber } from "../json/Json.ts"
import type { Json } from "../json/Json.ts"
import type { SourceEncoding } from "../source/Source.ts"
import { charsetOf, decode, sourceCharset, UTF_8 } from "../text/Charset.ts"
import type { Charset } from "../text/Charset.ts"
import { guessCharset } from "../text/CharsetGuess.ts"
import { unescapeName } from "./PartHeaders.ts"
import type { RawField, RawFile, RawForm } from "./RawForm.ts"

/** The signal that determined the charset. A signal that names an unknown charset is ignored. */
export type CharsetDecidedBy = "source" | "header" | "charset_field" | "data" | "json"

export interface CharsetDecision {
  readonly charset: Charset
  readonly decidedBy: CharsetDecidedBy
}

export interface CharsetSignals {
  readonly source: SourceEncoding | null
  /** The `charset` of the request's content type. */
  readonly header: string | null
}

/** The charset of a body that is not a form. */
export const decideCharset = (bytes: Buffer, signals: CharsetSignals): CharsetDecision =>
  declaredCharset(signals) ?? { charset: guessCharset(bytes), decidedBy: "data" }

/** The charset of a form. The query's bytes contribute to the guess, unless they are UTF-8. */
export const decideFormCharset = (form: RawForm, query: RawForm, signals: CharsetSignals): CharsetDecision => {
  const declared = declaredCharset(signals)
  if (declared !== null) return declared
  const field = charsetField(form)
  if (field !== null) return { charset: field, decidedBy: "charset_field" }
  const evidence = isUtf8(query.evidence)
    ? form.evidence
    : Buffer.concat([form.evidence, Buffer.from("\n"), query.evidence])
  return { charset: guessCharset(evidence), decidedBy: "data" }
}

/**
 * The charset of the query string. The URL was created separately from the form, so bytes that are valid UTF-8 are taken as
 * UTF-8. Other bytes use the charset of the body's form, or without a form the data.
 */
export const decideQueryCharset = (query: RawForm, source: SourceEncoding | null, form: Charset | null): Charset => {
  if (source !== null) return sourceCharset(source)
  if (isUtf8(query.evidence)) return UTF_8
  return form !== null && form !== UTF_8 ? form : guessCharset(query.evidence)
}

const declaredCharset = ({ source, header }: CharsetSignals): CharsetDecision | null => {
  if (source !== null) return { charset: sourceCharset(source), decidedBy: "source" }
  const named = charsetOf(header)
  return named === null ? null : { charset: named, decidedBy: "header" }
}

const charsetField = ({ bytes, fields }: RawForm): Charset | null => {
  for (const { nameStart, nameEnd, valueStart, valueEnd } of fields) {
    if (nameEnd - nameStart !== 9 || bytes.toString("latin1", nameStart, nameEnd) !== "_charset_") continue
    const charset = charsetOf(bytes.toString("latin1", valueStart, valueEnd))
    if (charset !== null) return charset
  }
  return null
}

export interface FormText {
  readonly fields: ReadonlyArray<readonly [name: string, value: Json]>
  readonly replaced: number
}

/**
 * Decodes all fields in a form's charset. With `overrides`, which is a setting of the source, the charsets of parts are
 * ignored.
 */
export const decodeForm = (form: RawForm, charset: Charset, overrides: boolean): FormText => {
  let replaced = 0
  const read = (start: number, end: number, as: Charset): string => {
    const decoded = decode(form.bytes, as, start, end)
    replaced += decoded.replaced
    return decoded.text
  }
  const fileOf = (file: RawFile, size: number): Json =>
    new Map<string, Json>([
      ["name", typeof file.name === "string" ? file.name : unescapeName(read(file.name.start, file.name.end, charset))],
      ["type", file.type],
      ["size", new JsonNumber(String(size))],
    ])
  const valueOf = ({ part, valueStart, valueEnd }: RawField): Json => {
    if (part === null) return read(valueStart, valueEnd, charset)
    if (part.file !== null) return fileOf(part.file, valueEnd - valueStart)
    return read(valueStart, valueEnd, overrides ? charset : (charsetOf(part.charset) ?? charset))
  }
  const fields = form.fields.map((field) => {
    const name = read(field.nameStart, field.nameEnd, charset)
    return [field.part === null ? name : unescapeName(name), valueOf(field)] as const
  })
  return { fields, replaced }
}
