/**
 * Decides in which charset each name and value of a form is. A declared charset applies to all of them: the source's
 * setting, the header, or the field `_charset_`. Otherwise, each value that is valid UTF-8 by itself is read as UTF-8.
 * The fields `charsets` and `charset` decide the rest, or else one guess does.
 */
import { isUtf8 } from "node:buffer"
import { Result } from "effect"
import { parseJson } from "../json/ParseJson.ts"
import type { SourceEncoding } from "../source/SourceSettings.ts"
import { charsetOf, decode, sourceCharset, UTF_8 } from "../text/Charset.ts"
import type { Charset, CharsetDecision } from "../text/Charset.ts"
import { guessBeside, guessCharset } from "../text/CharsetGuess.ts"
import { judgeGuess } from "../text/GuessDoubt.ts"
import type { RawField, RawForm } from "./RawForm.ts"
import { isDamagedUtf8, kindOfValue } from "./ValueCharset.ts"

/** The signals that may determine a charset. */
export interface CharsetSignals {
  readonly source: SourceEncoding | null
  /** The `charset` of the request's content type. */
  readonly header: string | null
}

/** How to read the names and values of a form. */
export interface FormCharsets {
  /** The charset of the form as a whole: the declared one, otherwise that of the values that are not UTF-8. */
  readonly decision: CharsetDecision
  /** Whether `decision` applies to every name and value. */
  readonly isUniform: boolean
  /** Whether parts may declare a charset of their own. */
  readonly heedsParts: boolean
  /** Whether such a charset counts only if every byte of the part has a meaning in it. */
  readonly partsMustFit?: true
  /** For file names that are not UTF-8. */
  readonly fileNames: Charset
  /** Charsets by field name, for values that are not UTF-8. */
  readonly byField: ReadonlyMap<string, Charset>
}

/** The charset of a body that is not a form. */
export const decideCharset = (bytes: Buffer, signals: CharsetSignals): CharsetDecision =>
  declaredCharset(signals) ?? xmlCharset(bytes) ?? judged(bytes, guessCharset(bytes))

const XML = /^<\?xml\s[^>]{0,100}?\bencoding\s*=\s*["']([\w.:-]{1,64})["']/

/** The charset that an XML document declares itself, if it is not UTF-8. */
const xmlCharset = (bytes: Buffer): CharsetDecision | null => {
  const label = XML.exec(bytes.toString("latin1", 0, 200))?.[1]
  const charset = label === undefined || isUtf8(bytes) ? null : charsetOf(label)
  return charset === null ? null : { charset, decidedBy: "data" }
}

/** The charsets of a form that declares one for all its values. */
export const uniformCharsets = (decision: CharsetDecision, heedsParts: boolean): FormCharsets => ({
  decision,
  isUniform: true,
  heedsParts,
  fileNames: decision.charset,
  byField: NO_FIELDS,
})

const NO_FIELDS: ReadonlyMap<string, Charset> = new Map()

const AS_UTF_8 = uniformCharsets({ charset: UTF_8, decidedBy: "data" }, true)

/** The charsets of a form. The source's setting overrides the charset of a part. */
export const decideFormCharsets = (form: RawForm, signals: CharsetSignals): FormCharsets => {
  const declared = declaredCharset(signals)
  if (declared !== null) return uniformCharsets(declared, declared.decidedBy !== "source")
  const named = namedCharset(form, "_charset_", true)
  if (named !== null) return uniformCharsets({ charset: named, decidedBy: "charset_field" }, true)
  if (isUtf8(form.bytes)) return AS_UTF_8
  const charset = namedCharset(form, "charset", false)
  return byValue(form, charset === null ? null : { charset, decidedBy: "named_charset" }, fieldCharsets(form), true)
}

/**
 * The charsets of a form that an operator reads again. Unless `allValues`, a value that is valid UTF-8 stays UTF-8, and a value
 * that declares a charset is read in it if it can be; everything else is read in the given charset.
 */
export const rereadCharsets = (form: RawForm, charset: Charset, allValues: boolean): FormCharsets => {
  const decision: CharsetDecision = { charset, decidedBy: "reread" }
  if (allValues) return uniformCharsets(decision, false)
  return {
    decision,
    isUniform: false,
    heedsParts: true,
    partsMustFit: true,
    fileNames: charset,
    byField: fieldCharsets(form),
  }
}

/**
 * The charsets of a query string. Its URL was created separately from the form, whose charset decides only unclear
 * values.
 */
export const decideQueryCharsets = (query: RawForm, { source }: CharsetSignals, form: Charset | null): FormCharsets => {
  if (source !== null) return uniformCharsets({ charset: sourceCharset(source), decidedBy: "source" }, false)
  if (isUtf8(query.bytes)) return AS_UTF_8
  const named = namedCharset(query, "_charset_", false)
  if (named !== null) return byValue(query, { charset: named, decidedBy: "charset_field" }, NO_FIELDS, false)
  const charset = namedCharset(query, "charset", false)
  if (charset !== null) return byValue(query, { charset, decidedBy: "named_charset" }, NO_FIELDS, false)
  const rest = restOf(query)
  return byValue(query, judged(rest, guessBeside(rest, form)), NO_FIELDS, false)
}

/** Whether bytes that no signal declares are read as UTF-8. */
export const staysUtf8 = (bytes: Buffer, start: number, end: number): boolean =>
  kindOfValue(bytes, start, end) !== "other" || isDamagedUtf8(bytes, start, end)

const declaredCharset = ({ source, header }: CharsetSignals): CharsetDecision | null => {
  if (source !== null) return { charset: sourceCharset(source), decidedBy: "source" }
  const named = charsetOf(header)
  return named === null ? null : { charset: named, decidedBy: "header" }
}

const byValue = (
  form: RawForm,
  named: CharsetDecision | null,
  byField: ReadonlyMap<string, Charset>,
  heedsParts: boolean,
): FormCharsets => {
  const rest = named === null ? restOf(form, byField) : null
  const fileNames = named === null ? fileNamesOf(form) : null
  const decision =
    named ??
    (rest!.length > 0
      ? judged(rest!, guessCharset(rest!))
      : (firstOf(byField) ?? judged(fileNames!, guessCharset(fileNames!))))
  return {
    decision,
    isUniform: false,
    heedsParts,
    fileNames: fileNames === null ? decision.charset : guessBeside(fileNames, decision.charset),
    byField,
  }
}

/** A guess, with its doubt; an unclear guess may become another charset. */
const judged = (bytes: Buffer, guess: Charset): CharsetDecision => {
  const { charset, isClear } = judgeGuess(bytes, guess)
  return { charset, decidedBy: isClear ? "data" : "unclear" }
}

const firstOf = (byField: ReadonlyMap<string, Charset>): CharsetDecision | null => {
  const [charset] = byField.values()
  return charset === undefined ? null : { charset, decidedBy: "named_charsets" }
}

const isNamed = ({ bytes }: RawForm, { nameStart, nameEnd }: RawField, name: string): boolean =>
  nameEnd - nameStart === name.length && bytes.toString("latin1", nameStart, nameEnd) === name

/** The charset given by the first field of this name. UTF-8 does not count: the bytes in question are not UTF-8. */
const namedCharset = (form: RawForm, name: string, utf8: boolean): Charset | null => {
  for (const field of form.fields) {
    if (!isNamed(form, field, name) || field.valueEnd - field.valueStart > MAX_LABEL) continue
    const charset = charsetOf(form.bytes.toString("latin1", field.valueStart, field.valueEnd))
    if (charset !== null && (utf8 || charset !== UTF_8)) return charset
  }
  return null
}

const MAX_LABEL = 64

/** A list longer than this is not from a mail with a few parts. */
const MAX_CHARSETS = 16_384

/** The field `charsets` of services that forward mail as a form: a JSON object of charsets by the names of fields. */
const fieldCharsets = (form: RawForm): ReadonlyMap<string, Charset> => {
  const charsets = new Map<string, Charset>()
  for (const field of form.fields) {
    const { valueStart, valueEnd } = field
    if (!isNamed(form, field, "charsets") || valueEnd - valueStart > MAX_CHARSETS) continue
    const parsed = parseJson(decode(form.bytes, UTF_8, valueStart, valueEnd).text)
    if (Result.isFailure(parsed) || !(parsed.success instanceof Map)) continue
    for (const [name, label] of parsed.success) {
      const charset = typeof label === "string" ? charsetOf(label) : null
      if (charset !== null && charset !== UTF_8) charsets.set(name, charset)
    }
  }
  return charsets
}

const SEPARATOR = Buffer.from("\n")

/** All names and values whose charset is still unknown, separated from one another. */
const restOf = (form: RawForm, byField: ReadonlyMap<string, Charset> = NO_FIELDS): Buffer => {
  const { bytes, fields, unread } = form
  const chunks: Array<Buffer> = []
  const add = (start: number, end: number) => {
    if (kindOfValue(bytes, start, end) === "other" && !isDamagedUtf8(bytes, start, end)) {
      chunks.push(bytes.subarray(start, end), SEPARATOR)
    }
  }
  for (const { nameStart, nameEnd, valueStart, valueEnd, part } of fields) {
    add(nameStart, nameEnd)
    if (part !== null && (part.file !== null || charsetOf(part.charset) !== null)) continue
    if (byField.size === 0 || !byField.has(bytes.toString("utf8", nameStart, nameEnd))) add(valueStart, valueEnd)
  }
  if (unread !== null) add(unread.from, unread.to)
  return Buffer.concat(chunks)
}

const fileNamesOf = ({ bytes, fields }: RawForm): Buffer => {
  const chunks: Array<Buffer> = []
  for (const { part } of fields) {
    const name = part?.file?.name
    if (name !== undefined && typeof name !== "string" && kindOfValue(bytes, name.start, name.end) === "other") {
      chunks.push(bytes.subarray(name.start, name.end), SEPARATOR)
    }
  }
  return Buffer.concat(chunks)
}
