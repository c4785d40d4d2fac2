/**
 * The rows endpoint's parameters: turns the pairs of a query string, in their order, into a selection. Fails for unknown
 * names first, then for every malformed value. Checks that need the object's columns are not made here.
 */
import { Result } from "effect"
import { DEFAULT_LIMIT, LIMIT_EXPECTED, parseLimit } from "../pagination/Page.ts"
import { isCalendarDay } from "../text/ExactFormat.ts"
import { type ColumnChoice, type Filter, FILTER_CONDITIONS, type FilterCondition } from "./Selection.ts"
import { MAX_ALTERNATIVES, MAX_SORTS, type Direction, type Period, type Selection, type Sort } from "./Selection.ts"
import { type SelectionCode, SelectionError } from "./SelectionError.ts"

/** The decoded parameters of a query string, in order. */
export type ParamPairs = ReadonlyArray<readonly [name: string, value: string]>

/** The parameters that may occur only once, with the error code if they are repeated. */
const SINGLE = {
  q: "bad_selection",
  per: "bad_period",
  from: "bad_period",
  to: "bad_period",
  limit: "bad_limit",
  cursor: "bad_cursor",
} as const satisfies Record<string, SelectionCode>

const REPEATED = ["fc", "fo", "fv", "fj", "sort", "dir", "col", "order", "hide"] as const

type Single = keyof typeof SINGLE
type Repeated = (typeof REPEATED)[number]

/** Every parameter of the rows endpoint, in the order of the reference. */
export const SELECTION_PARAMS = [
  "q",
  "fc",
  "fo",
  "fv",
  "fj",
  "per",
  "from",
  "to",
  "sort",
  "dir",
  "col",
  "order",
  "hide",
  "limit",
  "cursor",
] as const satisfies ReadonlyArray<Single | Repeated>

/** The error of a parameter. */
export const selectionError = (code: SelectionCode, param: string | null, message: string): SelectionError =>
  new SelectionError({ code, param, message })

/** Quotes a text for a message and truncates it if it is long. */
export const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** The error for an object that does not exist, or may not be read. */
export const noSuchTable = (schema: string, name: string): SelectionError =>
  selectionError("no_such_table", null, `There is no readable table or view ${shown(name)} in schema ${shown(schema)}.`)

/** Parses the pairs into a selection, or returns the first error. */
export const selectionParams = (pairs: ParamPairs): Result.Result<Selection, SelectionError> => {
  try {
    return Result.succeed(read(pairs))
  } catch (error) {
    if (error instanceof SelectionError) return Result.fail(error)
    throw error
  }
}

const read = (pairs: ParamPairs): Selection => {
  for (const [name] of pairs) {
    if (!(SELECTION_PARAMS as ReadonlyArray<string>).includes(name)) {
      const known = SELECTION_PARAMS.join(", ")
      throw selectionError("unknown_param", name, `Unknown parameter ${shown(name)}. The parameters are ${known}.`)
    }
  }
  const all = (name: Repeated) => valuesOf(pairs, name)
  const one = (name: Single): string | null => {
    const values = valuesOf(pairs, name)
    if (values.length > 1) throw selectionError(SINGLE[name], name, `${name} may be sent only once.`)
    return values[0] ?? null
  }
  return {
    search: search(one("q")),
    filters: joined(filters(all("fc"), all("fo"), all("fv")), all("fj")),
    period: period(one("per"), one("from"), one("to")),
    ...sorting(all("sort"), all("dir")),
    columns: columns(all("col"), all("order"), all("hide")),
    limit: limit(one("limit")),
    cursor: one("cursor"),
  }
}

const NO_VALUES: ReadonlyArray<string> = []

/** Most of a request's parameters are missing: nothing is created for them. */
const valuesOf = (pairs: ParamPairs, name: string): ReadonlyArray<string> => {
  let values: Array<string> | undefined
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index]!
    if (pair[0] === name) (values ??= []).push(pair[1])
  }
  return values ?? NO_VALUES
}

const search = (text: string | null): string => {
  if (text?.includes("\0"))
    throw selectionError("bad_selection", "q", "q contains a zero byte, which text cannot contain.")
  return text ?? ""
}

const isCondition = (word: string): word is FilterCondition =>
  (FILTER_CONDITIONS as ReadonlyArray<string>).includes(word)

const filters = (
  names: ReadonlyArray<string>,
  words: ReadonlyArray<string>,
  values: ReadonlyArray<string>,
): ReadonlyArray<Filter> => {
  if (names.length !== words.length) {
    const counts = `${names.length} fc and ${words.length} fo`
    throw selectionError("bad_filter", "fo", `Each filter is one fc with one fo and one fv: there are ${counts}.`)
  }
  if (values.length > names.length) {
    const counts = `${values.length} fv and ${names.length} fc`
    throw selectionError("bad_filter", "fv", `Each filter is one fc with one fo and one fv: there are ${counts}.`)
  }
  return names.map((column, index) => {
    const condition = words[index] ?? ""
    const value = values[index] ?? ""
    if (!isCondition(condition)) {
      const known = FILTER_CONDITIONS.join(", ")
      throw selectionError("bad_fo", "fo", `fo number ${index + 1} is ${shown(condition)}; it must be one of ${known}.`)
    }
    if ((condition === "empty" || condition === "notempty") && value !== "") {
      const message = `fv number ${index + 1} belongs to ${condition}, which takes no value: leave it empty.`
      throw selectionError("bad_fv", "fv", message)
    }
    if (value.includes("\0")) {
      throw selectionError("bad_fv", "fv", `fv number ${index + 1} contains a zero byte, which no value can contain.`)
    }
    return { column, condition, value }
  })
}

/** The filters with their groups: `joins` has one word for each pair of adjacent filters, and may end early. */
const joined = (list: ReadonlyArray<Filter>, joins: ReadonlyArray<string>): ReadonlyArray<Filter> => {
  for (const [index, word] of joins.entries()) {
    if (word !== "" && word !== "and" && word !== "or")
      throw selectionError("bad_filter", "fj", `fj number ${index + 1} is ${shown(word)}; it must be "and" or "or".`)
  }
  if (joins.length > 0 && joins.length >= list.length) {
    const message = `fj number ${list.length === 0 ? 1 : list.length} joins no filters: an fj stands between two filters, and there are ${list.length} fc.`
    throw selectionError("bad_filter", "fj", message)
  }
  if (!joins.includes("or")) return list
  if (list.length > MAX_ALTERNATIVES) {
    const message = `A selection with or has at most ${MAX_ALTERNATIVES} filters, and this one has ${list.length}.`
    throw selectionError("bad_filter", "fj", message)
  }
  return list.map((filter, index) => (joins[index - 1] === "or" ? { ...filter, or: true } : filter))
}

const period = (column: string | null, from: string | null, to: string | null): Period | null => {
  if (column === null && from === null && to === null) return null
  for (const [name, text] of [
    ["from", from],
    ["to", to],
  ] as const) {
    if (text === null) continue
    if (column === null) throw selectionError("bad_period", name, `${name} requires per, the name of a date column.`)
    if (!isCalendarDay(text)) {
      throw selectionError("bad_period", name, `${name} must be a calendar date as YYYY-MM-DD, not ${shown(text)}.`)
    }
  }
  if (from !== null && to !== null && from > to) {
    throw selectionError("bad_period", "to", `The period ends (${to}) before it begins (${from}).`)
  }
  return column === null ? null : { column, from, to }
}

const sorting = (
  names: ReadonlyArray<string>,
  words: ReadonlyArray<string>,
): Pick<Selection, "sort" | "direction" | "thenBy"> => {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw selectionError("bad_selection", "sort", `sort names the column ${shown(twice)} twice.`)
  if (names.length > MAX_SORTS) {
    const message = `sort may be sent at most ${MAX_SORTS} times, and was sent ${names.length} times.`
    throw selectionError("bad_selection", "sort", message)
  }
  const directions = words.map(direction)
  if (words.length > Math.max(1, names.length)) {
    const message =
      names.length === 0
        ? "dir may be sent only once without sort."
        : `dir number ${names.length + 1} belongs to no sort: the first dir belongs to the first sort, and so on.`
    throw selectionError("bad_dir", "dir", message)
  }
  const [sort = null, ...others] = names
  const thenBy = others.map((column, index): Sort => ({ column, direction: directions[index + 1] ?? "asc" }))
  return { sort, direction: directions[0] ?? null, thenBy }
}

const direction = (word: string, index: number, words: ReadonlyArray<string>): Direction => {
  if (word === "asc" || word === "desc") return word
  const which = words.length > 1 ? `dir number ${index + 1}` : "dir"
  throw selectionError("bad_dir", "dir", `${which} must be asc or desc, not ${shown(word)}.`)
}

const USUAL_COLUMNS: ColumnChoice = { first: NO_VALUES, hidden: NO_VALUES }

const columns = (
  only: ReadonlyArray<string>,
  first: ReadonlyArray<string>,
  hidden: ReadonlyArray<string>,
): ColumnChoice => {
  if (only.length + first.length + hidden.length === 0) return USUAL_COLUMNS
  for (const [name, list] of [
    ["col", only],
    ["order", first],
    ["hide", hidden],
  ] as const) {
    const twice = list.find((column, index) => list.indexOf(column) !== index)
    if (twice !== undefined)
      throw selectionError("bad_columns", name, `${name} names the column ${shown(twice)} twice.`)
    if (name !== "col" && only.length > 0 && list.length > 0) {
      throw selectionError(
        "bad_columns",
        name,
        `${name} cannot be combined with col, which lists exactly what to show.`,
      )
    }
  }
  return only.length > 0 ? { only } : { first, hidden }
}

const limit = (text: string | null): number => {
  const size = text === null ? DEFAULT_LIMIT : parseLimit(text)
  if (size === undefined) throw selectionError("bad_limit", "limit", `${LIMIT_EXPECTED}, not ${shown(text ?? "")}.`)
  return size
}
