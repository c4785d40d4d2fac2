/**
 * Checks one value against a compiled schema. The work is counted, and ends with `TooLong` at a limit: a schema may refer to itself,
 * or double its references at each level.
 */
import { compareDecimals, type Decimal, decimalOf } from "../json/Decimal.ts"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"

/** The most steps for one event: some milliseconds. */
const MAX_STEPS = 100_000
/** The deepest nesting of checks. */
const MAX_DEPTH = 1_000

/** The work exceeded the limit. */
export class TooLong extends Error {}

/** Where a value violates a schema. */
export interface SchemaFault {
  /** Names and indexes, the innermost first. */
  readonly path: Array<string>
  /** What the value must be, as in "must be a number". */
  readonly must: string
}

/** A rule of a schema; null for a valid value. */
export type Rule = (value: Json, run: SchemaRun) => SchemaFault | null

/** A schema; its rules are complete once the whole document is read. */
export interface SchemaNode {
  rules: ReadonlyArray<Rule>
}

/** A fault at the value itself. `what` completes "must". */
export const must = (what: string): SchemaFault => ({ path: [], must: `must ${what}` })

/** A number without insignificant digits. */
export const decimal = (value: JsonNumber, run: SchemaRun): Decimal => {
  run.spend(1 + (value.token.length >> 4))
  return decimalOf(value.token)!
}

/** One check of one value, with its count. */
export class SchemaRun {
  #steps = 0
  #depth = 0
  readonly spend = (steps: number): void => {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw new TooLong()
  }

  /** The first fault of a value. */
  check({ rules }: SchemaNode, value: Json): SchemaFault | null {
    if (++this.#depth > MAX_DEPTH) throw new TooLong()
    this.spend(1 + rules.length)
    for (const rule of rules) {
      const fault = rule(value, this)
      if (fault === null) continue
      this.#depth--
      return fault
    }
    this.#depth--
    return null
  }

  /** The first fault of a member or an item. */
  checkInner(node: SchemaNode, value: Json, name: string | number): SchemaFault | null {
    const fault = this.check(node, value)
    fault?.path.push(String(name))
    return fault
  }

  /** Whether two values are equal: numbers by their value, objects in any order of members. */
  isEqual(a: Json, b: Json): boolean {
    this.spend(1)
    if (typeof a === "string" && typeof b === "string") {
      this.spend(a.length >> 6)
      return a === b
    }
    if (a instanceof JsonNumber && b instanceof JsonNumber) {
      return compareDecimals(decimal(a, this), decimal(b, this)) === 0
    }
    if (isJsonList(a)) {
      return isJsonList(b) && a.length === b.length && a.every((item, index) => this.isEqual(item, b[index]!))
    }
    if (!(a instanceof Map) || !(b instanceof Map)) return a === b
    const [one, other]: readonly [JsonObject, JsonObject] = [a, b]
    if (one.size !== other.size) return false
    for (const [name, value] of one) {
      const beside = other.get(name)
      if (beside === undefined || !this.isEqual(value, beside)) return false
    }
    return true
  }
}
