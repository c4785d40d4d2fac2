/** The rules of JSON Schema 2020-12 for a single value: its type, its number, its text. Values of other types pass. */
import { compareDecimals, type Decimal, decimalOf } from "../json/Decimal.ts"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { decimal, must, type Rule, type SchemaRun, TooLong } from "./SchemaRun.ts"

/** The types by their names. */
export const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"] as const

/** One of `TYPES`. */
export type TypeName = (typeof TYPES)[number]

const isInteger = ({ digits, point }: Decimal): boolean => point >= digits.length

const HAS_TYPE: Readonly<Record<TypeName, (value: Json, run: SchemaRun) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: (value, run) => value instanceof JsonNumber && isInteger(decimal(value, run)),
  number: (value) => value instanceof JsonNumber,
  string: (value) => typeof value === "string",
  array: (value) => isJsonList(value),
  object: (value) => value instanceof Map,
}

const WORDS: Readonly<Record<TypeName, string>> = {
  null: "null",
  boolean: "true or false",
  integer: "an integer",
  number: "a number",
  string: "a text",
  array: "a list",
  object: "an object",
}

/** `type`. */
export const typeRule = (types: ReadonlyArray<TypeName>): Rule => {
  const fault = `be ${types.map((type) => WORDS[type]).join(" or ")}`
  return (value, run) => (types.some((type) => HAS_TYPE[type](value, run)) ? null : must(fault))
}

const SHOWN = 60

const short = (value: Json): string => {
  const text = jsonText(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…`.toWellFormed() : text
}

/** `enum`, and `const` as one value. */
export const valuesRule = (values: ReadonlyArray<Json>): Rule => {
  const fault =
    values.length === 1 ? `be ${short(values[0]!)}` : `be one of ${short(values).slice(1).replace(/\]$/, "")}`
  return (value, run) => (values.some((one) => run.isEqual(one, value)) ? null : must(fault))
}

const COMPARED = {
  minimum: { holds: (order: number) => order >= 0, words: "be at least" },
  maximum: { holds: (order: number) => order <= 0, words: "be at most" },
  exclusiveMinimum: { holds: (order: number) => order > 0, words: "be greater than" },
  exclusiveMaximum: { holds: (order: number) => order < 0, words: "be less than" },
} as const

/** `minimum` and the like. */
export const boundRule = (keyword: keyof typeof COMPARED, bound: JsonNumber): Rule => {
  const { holds, words } = COMPARED[keyword]
  const limit = decimalOf(bound.token)!
  return (value, run) =>
    !(value instanceof JsonNumber) || holds(compareDecimals(decimal(value, run), limit))
      ? null
      : must(`${words} ${bound.token}`)
}

/** Longer numbers are not divided. */
const MAX_DIGITS = 1_000

/** `multipleOf`: exact for any number of digits. */
export const multipleRule = (divisor: JsonNumber): Rule => {
  const by = decimalOf(divisor.token)!
  return (value, run) => {
    if (!(value instanceof JsonNumber)) return null
    const of = decimal(value, run)
    if (of.sign === 0) return null
    const [ofPower, byPower] = [of.point - of.digits.length, by.point - by.digits.length]
    const least = Math.min(ofPower, byPower)
    if (of.point - least > MAX_DIGITS || by.point - least > MAX_DIGITS) throw new TooLong()
    run.spend(of.point - least)
    const [whole, part] = [
      BigInt(of.digits.padEnd(of.point - least, "0")),
      BigInt(by.digits.padEnd(by.point - least, "0")),
    ]
    return whole % part === 0n ? null : must(`be a multiple of ${divisor.token}`)
  }
}

/** The number of characters, counted only if the limit needs it: two code units make at most one character less. */
const characters = (text: string, limit: number, run: SchemaRun): number => {
  if (text.length < limit) return text.length
  if (text.length > 2 * limit + 1) return Math.ceil(text.length / 2)
  run.spend(text.length >> 3)
  let pairs = 0
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) pairs++
  }
  return text.length - pairs
}

type Count = (value: Json, limit: number, run: SchemaRun) => number | null

const COUNTS: Readonly<Record<"Length" | "Items" | "Properties", { readonly of: Count; readonly words: string }>> = {
  Length: {
    of: (value, limit, run) => (typeof value === "string" ? characters(value, limit, run) : null),
    words: "characters",
  },
  Items: { of: (value) => (isJsonList(value) ? value.length : null), words: "items" },
  Properties: { of: (value) => (value instanceof Map ? (value as JsonObject).size : null), words: "members" },
}

/** `minLength`, `maxItems` and the like. */
export const countRule = (is: "min" | "max", what: keyof typeof COUNTS, limit: number): Rule => {
  const { of, words } = COUNTS[what]
  return (value, run) => {
    const count = of(value, limit, run)
    if (count === null || (is === "min" ? count >= limit : count <= limit)) return null
    return must(`have at ${is === "min" ? "least" : "most"} ${limit} ${words}`)
  }
}

/** Equal values have the same text. Each level copies that of the levels in it, so the length of every text counts as work. */
const canonical = (value: Json, run: SchemaRun): string => {
  const text = canonicalText(value, run)
  run.spend(4 + (text.length >> 4))
  return text
}

/** Numbers are written by their value, the members of objects in the order of their names. */
const canonicalText = (value: Json, run: SchemaRun): string => {
  if (value instanceof JsonNumber) {
    const { sign, digits, point } = decimal(value, run)
    return `${sign}:${digits}:${sign === 0 ? 0 : point}`
  }
  if (isJsonList(value)) return `[${value.map((item) => canonical(item, run)).join(",")}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const object: JsonObject = value
  const names = [...object.keys()].sort((a, b) => (a < b ? -1 : 1))
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(object.get(name)!, run)}`).join(",")}}`
}

/** `uniqueItems`. */
export const uniqueRule: Rule = (value, run) => {
  if (!isJsonList(value)) return null
  const seen = new Set(value.map((item) => canonical(item, run)))
  return seen.size === value.length ? null : must("have no two equal items")
}

/** `required`; with `demanding`, one entry of `dependentRequired`. */
export const requiredRule =
  (names: ReadonlyArray<string>, demanding: string | null = null): Rule =>
  (value, run) => {
    if (!(value instanceof Map) || (demanding !== null && !value.has(demanding))) return null
    run.spend(names.length)
    const missing = names.find((name) => !value.has(name))
    return missing === undefined ? null : must(`have a member ${JSON.stringify(missing)}`)
  }
