/**
 * Limits the numbers that are passed to PostgreSQL as numbers. PostgreSQL stores all digits of a number, even in jsonb:
 * 8 bytes such as `1e131071` would become 131 KB.
 */
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"

/** The maximum number of plain digits in a numeric column. */
const MAX_PLAIN_DIGITS = 1_000

/** How many digits a number token has when written without an exponent. */
export const plainDigits = (token: string): number => {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)
  if (match === null) return Number.POSITIVE_INFINITY
  const whole = match[1]!.length
  const fraction = match[2]?.length ?? 0
  const exponent = match[3] === undefined ? 0 : Number(match[3])
  if (!Number.isSafeInteger(exponent)) return Number.POSITIVE_INFINITY
  return Math.max(1, whole + exponent) + Math.max(0, fraction - exponent)
}

/** A number without an exponent, as nearly all are, has no more digits than characters. */
export const fitsNumeric = ({ token }: JsonNumber): boolean =>
  (token.length <= MAX_PLAIN_DIGITS && !hasExponent(token)) || plainDigits(token) <= MAX_PLAIN_DIGITS

const hasExponent = (token: string): boolean => token.length > 2 && (token.includes("e") || token.includes("E"))

/** A list or an object. */
export type Container = ReadonlyArray<Json> | JsonObject

/** True for a list or an object. */
export const isContainer = (value: Json): value is Container => isJsonList(value) || value instanceof Map

/** False if a number at any depth is too wide for jsonb. */
export const fitsJsonb = (value: Container): boolean => {
  const open: Array<Container> = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const item of isJsonList(next) ? next : next.values()) {
      if (item instanceof JsonNumber) {
        if (!fitsNumeric(item)) return false
      } else if (isContainer(item)) open.push(item)
    }
  }
  return true
}

/** The same check in pieces. */
export class NumberCheck {
  readonly #waiting: Array<Container>
  /** The remaining items of the list or object that is being visited. */
  #rest: Iterator<Json> | undefined

  constructor(value: Container) {
    this.#waiting = [value]
  }

  /** Visits up to this many values. Returns whether all numbers fit, or undefined if more values remain. */
  advance(values: number): boolean | undefined {
    const waiting = this.#waiting
    for (let left = values; left > 0; left--) {
      const items = (this.#rest ??= waiting.pop()?.values())
      if (items === undefined) return true
      const item = items.next()
      if (item.done === true) this.#rest = undefined
      else if (item.value instanceof JsonNumber) {
        if (!fitsNumeric(item.value)) return false
      } else if (isContainer(item.value)) waiting.push(item.value)
    }
    return undefined
  }
}
