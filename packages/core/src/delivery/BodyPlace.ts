/**
 * A place in a template of a body: `{{payload.name}}`, or `{{payload.name|nobody}}` with a text for a missing value. Its path
 * names a member of the event as the feed shows it. A name with a dot or a brace is quoted: `{{payload."a.b"}}`.
 */
import { Result } from "effect"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"

/** What a path may begin with. */
export const PLACE_ROOTS = [
  "payload",
  "id",
  "source",
  "channel",
  "received_at",
  "verified",
  "delivery_id",
  "event",
] as const

/** A place, and the index after its closing braces. */
export interface BodyPlace {
  readonly path: ReadonlyArray<string>
  /** The text for a value that is missing, null or an empty text; null if none is given. */
  readonly otherwise: string | null
  readonly end: number
}

/** Why a place is refused, and at which index. */
export interface PlaceFault {
  readonly reason: string
  readonly at: number
}

/** The deepest path. */
const MAX_NAMES = 32

const fail = (reason: string, at: number) => Result.fail<PlaceFault>({ reason, at })

const skipSpaces = (text: string, from: number): number => {
  let at = from
  while (text[at] === " ") at++
  return at
}

interface Name {
  readonly name: string
  readonly end: number
}

/** A quoted name; a quote in it is doubled. */
const quotedName = (text: string, from: number): Result.Result<Name, PlaceFault> => {
  let name = ""
  let at = from + 1
  for (;;) {
    const end = text.indexOf('"', at)
    if (end === -1) return fail("a quoted name has no closing quote", from)
    name += text.slice(at, end)
    if (text[end + 1] !== '"') return Result.succeed({ name, end: end + 1 })
    name += '"'
    at = end + 2
  }
}

const ENDS_NAME = new Set([".", "|", "{", "}", '"'])

const nameAt = (text: string, from: number): Result.Result<Name, PlaceFault> => {
  if (text[from] === '"') return quotedName(text, from)
  let end = from
  while (end < text.length && !ENDS_NAME.has(text[end]!)) end++
  const name = text.slice(from, end).trimEnd()
  return name === "" ? fail("a name is missing in a place", from) : Result.succeed({ name, end })
}

/** Reads the place whose opening braces are at `from`. */
export const placeAt = (text: string, from: number): Result.Result<BodyPlace, PlaceFault> => {
  const path: Array<string> = []
  let at = skipSpaces(text, from + 2)
  for (;;) {
    const read = nameAt(text, at)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    if (path.push(read.success.name) > MAX_NAMES) return fail(`a path has more than ${MAX_NAMES} names`, from)
    at = skipSpaces(text, read.success.end)
    if (text[at] !== ".") break
    at = skipSpaces(text, at + 1)
  }
  if (!(PLACE_ROOTS as ReadonlyArray<string>).includes(path[0]!)) {
    return fail(`a path begins with ${PLACE_ROOTS.join(", ")}, not with ${path[0]!.slice(0, 50)}`, from)
  }
  if (text.startsWith("}}", at)) return Result.succeed({ path, otherwise: null, end: at + 2 })
  if (text[at] !== "|") return fail("a place must end with }}", from)
  const end = text.indexOf("}}", at)
  if (end === -1) return fail("a place must end with }}", from)
  return Result.succeed({ path, otherwise: text.slice(at + 1, end).trim(), end: end + 2 })
}

/**
 * The value at a path; undefined if it is missing. A name that an object does not have is tried together with those after it,
 * because a field's own name may have dots.
 */
export const valueAt = (root: JsonObject, path: ReadonlyArray<string>): Json | undefined => {
  let value: Json = root
  for (let at = 0; at < path.length;) {
    if (isJsonList(value)) {
      const item: Json | undefined = /^\d{1,9}$/.test(path[at]!) ? value[Number(path[at])] : undefined
      if (item === undefined) return undefined
      value = item
      at++
      continue
    }
    if (!(value instanceof Map)) return undefined
    const object: JsonObject = value
    let end = at + 1
    let name = path[at]!
    while (!object.has(name) && end < path.length) name += `.${path[end++]!}`
    if (!object.has(name)) return undefined
    value = object.get(name)!
    at = end
  }
  return value
}

/** A value as it is printed inside a text. */
export const printed = (value: Json): string => {
  if (typeof value === "string") return value
  if (value === null) return ""
  return value instanceof JsonNumber ? value.token : jsonText(value)
}
