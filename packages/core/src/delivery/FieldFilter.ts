/**
 * The filter of a delivery address: conditions in the words of the table screen, over the top-level fields of an
 * event's payload. All of them must hold. Numbers compare as numbers, to the last digit; other values compare as text.
 * Lists and objects cannot be compared, but `contains` searches them. A missing field is empty, as is null.
 *
 * Refuses conditions that no event can meet.
 *
 * Decision: docs/decisions/0063-filters-hold-from-commit-to-commit.md
 */
import * as Shape from "../json/Shape.ts"
import { Result } from "effect"
import { compareDecimals, type Decimal, decimalOf } from "../json/Decimal.ts"
import { isJsonList, JsonNumber, type Json, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { FILTER_CONDITIONS, type FilterCondition } from "../selection/Selection.ts"
import { foldCase } from "../text/LetterCase.ts"
import { SearchedText } from "../text/SearchedText.ts"
import { AddressError } from "./AddressError.ts"

/** A condition with the names of the row parameters: field, operator, value. */
export interface FieldFilter {
  /** The name of the field as its sender writes it, which is the label of its column. */
  readonly fc: string
  readonly fo: FilterCondition
  /** Empty for `empty` and `notempty`. */
  readonly fv: string
}

/** The members of a condition as the APIs show them. */
export const fieldFilterMembers = {
  fc: Shape.text("The field's name, as its sender writes it."),
  fo: Shape.oneOf(FILTER_CONDITIONS, "The condition."),
  fv: Shape.text("The value; empty for `empty` and `notempty`."),
} satisfies Shape.Members<FieldFilter>

/** Empty: every event passes. */
export type FieldFilters = ReadonlyArray<FieldFilter>

/** The most conditions of a filter. */
export const MAX_FILTERS = 50
const MAX_LENGTH = 1_000
/**
 * The most characters of all names and values of a filter: far more than people write, and few enough to evaluate a
 * thousand filters in time.
 */
export const MAX_FILTER_CHARACTERS = 4_000
/** No meaningful number has a greater exponent, and none within the limit is rounded. */
const MAX_EXPONENT = 1e15

const refuse = (code: "bad_filter" | "bad_fo" | "bad_fv", message: string) =>
  Result.fail(new AddressError({ code, message }))

/** Returns the conditions to store, without any other members of the caller's objects. */
export const checkFilters = (filters: FieldFilters): Result.Result<FieldFilters, AddressError> => {
  if (filters.length > MAX_FILTERS) return refuse("bad_filter", `filters has more than ${MAX_FILTERS} conditions.`)
  let characters = 0
  for (const [index, { fc, fo, fv }] of filters.entries()) {
    const which = `Condition ${index + 1} of filters`
    if (fc === "" || fc.length > MAX_LENGTH || fc.includes("\0")) {
      return refuse("bad_filter", `${which}: fc must be the name of a field, of 1 to ${MAX_LENGTH} characters.`)
    }
    if (!FILTER_CONDITIONS.includes(fo)) {
      return refuse("bad_fo", `${which}: fo must be one of ${FILTER_CONDITIONS.join(", ")}.`)
    }
    if ((fo === "empty" || fo === "notempty") && fv !== "") {
      return refuse("bad_fv", `${which}: ${fo} takes no value, so fv must be empty.`)
    }
    if (fv.length > MAX_LENGTH || fv.includes("\0")) {
      return refuse("bad_fv", `${which}: fv must have at most ${MAX_LENGTH} characters, and no zero byte.`)
    }
    const { point } = decimalOf(fv.trim()) ?? { point: 0 }
    if (Math.abs(point) > MAX_EXPONENT) return refuse("bad_fv", `${which}: fv has an exponent that is out of range.`)
    characters += fc.length + fv.length
    if (characters > MAX_FILTER_CHARACTERS) {
      const message = `${which}: up to here, the names and values have more than ${MAX_FILTER_CHARACTERS.toLocaleString("en")} characters.`
      return refuse("bad_filter", message)
    }
  }
  return Result.succeed(filters.map(({ fc, fo, fv }) => ({ fc, fo, fv })))
}

/**
 * The fields of one event, read by many filters. The text that `contains` searches is folded once per field: a thousand
 * addresses may search a text of a megabyte.
 */
export class FilteredFields {
  readonly #payload: JsonObject
  readonly #inPieces: boolean
  readonly #searched = new Map<string, SearchedText>()
  readonly #decimals = new Map<string, Decimal | null>()
  #slow: SearchedText | null = null

  /** `inPieces`: the caller prepares a text that is searched often by `index`. */
  constructor(payload: JsonObject, inPieces = false) {
    this.#payload = payload
    this.#inPieces = inPieces
  }

  /** If a text should have an index, yields between the pieces of building it. */
  *index(): Generator<void> {
    if (this.#slow === null) return
    yield* this.#slow.index()
    this.#slow = null
  }

  value(field: string): Json {
    return this.#payload.get(field) ?? null
  }

  /** `sought` is folded. */
  contains(field: string, sought: string): boolean {
    let searched = this.#searched.get(field)
    if (searched === undefined) {
      searched = new SearchedText(foldCase(shownText(this.value(field))), { inPieces: this.#inPieces })
      this.#searched.set(field, searched)
    }
    const found = searched.contains(sought)
    if (searched.isSlow) this.#slow = searched
    return found
  }

  /** A number in a form that can be ordered. */
  decimal(field: string, { token }: JsonNumber): Decimal | null {
    let decimal = this.#decimals.get(field)
    if (decimal === undefined) {
      decimal = decimalOf(token)
      this.#decimals.set(field, decimal)
    }
    return decimal
  }
}

/** Decides whether one condition holds. */
type Holds = (fields: FilteredFields) => boolean

/** Whether an event with these fields passes; the values are read once for all events. */
export const compileFilters = (filters: FieldFilters): Holds => {
  const all = filters.map(compileFilter)
  return (fields) => all.every((holds) => holds(fields))
}

/** Whether this one condition holds for an event. */
export const compileFilter = ({ fc, fo, fv }: FieldFilter): Holds => {
  if (fo === "empty") return (fields) => isBlank(fields.value(fc))
  if (fo === "notempty") return (fields) => !isBlank(fields.value(fc))
  if (fo === "contains") {
    const sought = foldCase(fv)
    return (fields) => fields.value(fc) !== null && fields.contains(fc, sought)
  }
  const number = decimalOf(fv.trim())
  const holds = COMPARISON[fo]
  const isEquality = fo === "eq" || fo === "ne"
  return (fields) => {
    const value = fields.value(fc)
    if (isEquality && typeof value === "string") return (value === fv) === (fo === "eq")
    const order = value instanceof JsonNumber ? orderOf(fields.decimal(fc, value), number) : orderOfText(value, fv)
    return order === null ? fo === "ne" : holds(order)
  }
}

/** Whether a known order satisfies the operator. */
const COMPARISON: Readonly<
  Record<Exclude<FilterCondition, "empty" | "notempty" | "contains">, (order: number) => boolean>
> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
}

/** Null unless both are numbers. */
const orderOf = (a: Decimal | null, b: Decimal | null): number | null =>
  a === null || b === null ? null : compareDecimals(a, b)

/** Null for a missing value, a list or an object. */
const orderOfText = (value: Json, other: string): number | null =>
  typeof value === "string" || typeof value === "boolean" ? compareTexts(String(value), other) : null

/** Compares by code points, whatever the language. */
const compareTexts = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (one !== other) return rank(one) - rank(other)
  }
  return a.length - b.length
}

/** Characters outside the basic plane come after all characters in it. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** Empty as on the table screen: a text of spaces is not empty. */
const isBlank = (value: Json): boolean => {
  if (value instanceof Map) return value.size === 0
  return value === null || value === "" || (isJsonList(value) && value.length === 0)
}

const shownText = (value: Json): string => {
  if (typeof value === "string") return value
  return value instanceof JsonNumber ? value.token : jsonText(value)
}
