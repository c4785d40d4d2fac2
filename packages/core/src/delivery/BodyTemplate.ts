/**
 * A custom body: JSON whose texts hold places. A text that is nothing but one place is replaced by the value as sent,
 * with all its digits; inside a longer text the value is printed. Names of members hold no places. There is no code
 * and no loop, and no value of an event ever becomes structure.
 *
 * A template is compiled into pieces of its own source and the places between them, so rendering takes time in
 * proportion to the body, and the length of the body is bounded.
 */
import { Result } from "effect"
import type { Json, JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { emptyJsonNotes, jsonErrorInWords, parseJson } from "../json/ParseJson.ts"
import { textPosition } from "../text/TextPosition.ts"
import { type BodyPlace, placeAt, printed, valueAt } from "./BodyPlace.ts"

/** The longest template, in bytes. */
export const MAX_TEMPLATE_BYTES = 16_384
const MAX_DEPTH = 64
/** The longest rendered body, in characters; at least twice its event may be used. */
export const MAX_RENDERED = 4_194_304

/** `form`: an object, whose members are the fields of a form. */
export type TemplateUse = "json" | "form"

type Hole = Pick<BodyPlace, "path" | "otherwise"> & {
  /** Whether it is all of its text. */
  readonly whole: boolean
}

/** Source text that is sent as it is, and places. */
export type CompiledTemplate = ReadonlyArray<string | Hole>

/** In valid JSON, quotes only delimit texts. */
const TEXTS = /"(?:[^"\\]|\\.)*"/g

/** The index in the source of each character of a text, whose opening quote is at `from`, and of its closing quote. */
const sourceIndexes = (source: string, from: number, to: number): ReadonlyArray<number> => {
  const indexes: Array<number> = []
  for (let at = from + 1; at < to - 1;) {
    indexes.push(at)
    if (source[at] !== "\\") at++
    else at += source[at + 1] === "u" ? 6 : 2
  }
  return [...indexes, to - 1]
}

interface PlacedHole extends Hole {
  /** In the source. */
  readonly from: number
  readonly to: number
}

const holesIn = (source: string, from: number, raw: string): Result.Result<ReadonlyArray<PlacedHole>, string> => {
  const text = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1)
  if (!text.includes("{{")) return Result.succeed([])
  const indexes = sourceIndexes(source, from, from + raw.length)
  if (
    source
      .slice(from + raw.length)
      .trimStart()
      .startsWith(":")
  ) {
    return Result.fail(located("a name of a member holds no place", source, indexes[text.indexOf("{{")]!))
  }
  const holes: Array<PlacedHole> = []
  for (let at = text.indexOf("{{"); at !== -1;) {
    const place = placeAt(text, at)
    if (Result.isFailure(place)) {
      const { reason, at: where } = place.failure
      return Result.fail(located(reason, source, indexes[Math.min(where, text.length)]!))
    }
    const { path, otherwise, end } = place.success
    const whole = at === 0 && end === text.length
    const [start, stop] = whole ? [from, from + raw.length] : [indexes[at]!, indexes[end]!]
    holes.push({ path, otherwise, whole, from: start, to: stop })
    at = text.indexOf("{{", end)
  }
  return Result.succeed(holes)
}

const located = (reason: string, source: string, at: number): string => {
  const { line, column } = textPosition(source, at)
  return `The template is not valid: ${reason}, at line ${line}, column ${column}.`
}

/** Fails with a sentence that names line and column. */
export const compileTemplate = (source: string, use: TemplateUse): Result.Result<CompiledTemplate, string> => {
  if (Buffer.byteLength(source) > MAX_TEMPLATE_BYTES) {
    return Result.fail(`A template must have at most ${MAX_TEMPLATE_BYTES.toLocaleString("en")} bytes.`)
  }
  const notes = emptyJsonNotes()
  const parsed = parseJson(source, { maxDepth: MAX_DEPTH, notes })
  if (Result.isFailure(parsed)) return Result.fail(`The template is ${jsonErrorInWords(parsed.failure)}.`)
  if (notes.replaced > 0 || source.startsWith("\uFEFF")) {
    return Result.fail("The template holds a zero character, half a character, or a byte order mark.")
  }
  if (use === "form" && !(parsed.success instanceof Map)) {
    return Result.fail(located("the template of a form is an object of its fields", source, source.search(/\S/)))
  }
  const pieces: Array<string | Hole> = []
  let written = 0
  for (const { 0: raw, index } of source.matchAll(TEXTS)) {
    const holes = holesIn(source, index, raw)
    if (Result.isFailure(holes)) return Result.fail(holes.failure)
    for (const { from, to, ...hole } of holes.success) {
      if (from > written) pieces.push(source.slice(written, from))
      pieces.push(hole)
      written = to
    }
  }
  if (written < source.length) pieces.push(source.slice(written))
  return Result.succeed(pieces)
}

const isMissing = (value: Json | undefined): value is undefined | null | "" =>
  value === undefined || value === null || value === ""

const filled = ({ path, otherwise, whole }: Hole, event: JsonObject): string => {
  const found = valueAt(event, path)
  const value = otherwise !== null && isMissing(found) ? otherwise : (found ?? null)
  return whole ? jsonText(value) : JSON.stringify(printed(value)).slice(1, -1)
}

/**
 * The JSON of a body. `event` has the members that paths begin with. Fails if the body is longer than `limit`; at most
 * one value beyond it is ever written.
 */
export const renderTemplate = (
  template: CompiledTemplate,
  event: JsonObject,
  limit: number = MAX_RENDERED,
): Result.Result<string, string> => {
  let length = 0
  const written: Array<string> = []
  for (const piece of template) {
    const text = typeof piece === "string" ? piece : filled(piece, event)
    length += text.length
    if (length > limit) {
      return Result.fail(`the body has more than ${limit.toLocaleString("en")} characters by its template`)
    }
    written.push(text)
  }
  return Result.succeed(written.join(""))
}

const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replaceAll("%20", "+")
    .replaceAll(/[!'()~]/g, percent)

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** The members of an object as a form: a list is a repeated field, an object its JSON, null an empty text. */
export const formText = (fields: JsonObject): string => {
  const pairs: Array<string> = []
  for (const [name, value] of fields) {
    for (const item of Array.isArray(value) ? (value as ReadonlyArray<Json>) : [value]) {
      pairs.push(`${encoded(name)}=${encoded(printed(item))}`)
    }
  }
  return pairs.join("&")
}
