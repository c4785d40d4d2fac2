/** The flags of a selection: as a person would write it, and by the names of the API's parameters. */
import { Effect, Option, Result } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { periodPairs, wherePairs } from "./RowsFlags.ts"

export const one = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TEXT"), Flag.withDescription(about), Flag.optional)

const many = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TEXT"), Flag.withDescription(about), Flag.between(0, 1000))

/** A selection as a person would write it. */
export const FRIENDLY = {
  where: Flag.String("where").pipe(
    Flag.withMetavar("CONDITION"),
    Flag.withDescription('Filter rows, such as "total>=10", "name~smith" or "name is empty"; repeatable'),
    Flag.between(0, 1000),
  ),
  any: Flag.String("any").pipe(
    Flag.withMetavar("CONDITION"),
    Flag.withDescription("As --where, but only one of all --any must hold; repeatable"),
    Flag.between(0, 1000),
  ),
  period: one("period", "Only rows of this period, such as created=2026-01-01..2026-01-31"),
  search: one("search", "Search in all columns"),
  desc: Flag.Boolean("desc").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Sort in descending order, by each --sort"),
    Flag.withDefault(false),
  ),
  columns: one("columns", "Only these columns, in this order, separated by commas"),
} as const

/** How the filters are joined: first those of `--where`, then those given by the API's own names. */
const joins = (input: {
  readonly where: ReadonlyArray<string>
  readonly any: ReadonlyArray<string>
  readonly fc: ReadonlyArray<string>
  readonly fj: ReadonlyArray<string>
}): ReadonlyArray<readonly [string, string]> => {
  const { where, any, fc, fj } = input
  const conditions = where.length + any.length
  if (conditions === 0 || (any.length < 2 && fj.length === 0)) return []
  return Array.from({ length: conditions - (fc.length === 0 ? 1 : 0) }, (_, at) => {
    const isAlternative = at >= where.length && at < conditions - 1
    return ["fj", isAlternative ? "or" : "and"] as const
  })
}

export const friendlyPairs = (input: {
  readonly where: ReadonlyArray<string>
  readonly any: ReadonlyArray<string>
  readonly fc: ReadonlyArray<string>
  readonly fj: ReadonlyArray<string>
  readonly sort: ReadonlyArray<string>
  readonly period: Option.Option<string>
  readonly search: Option.Option<string>
  readonly desc: boolean
  readonly columns: Option.Option<string>
}) =>
  Effect.gen(function* () {
    const read = [
      ...input.where.map((text) => wherePairs(text)),
      ...input.any.map((text) => wherePairs(text, "--any")),
      ...Option.toArray(input.period).map(periodPairs),
    ]
    const pairs: Array<readonly [string, string]> = []
    for (const flag of read) {
      if (Result.isFailure(flag)) return yield* new CommandError({ code: "usage", message: flag.failure })
      for (const pair of flag.success) pairs.push(pair)
    }
    for (const text of Option.toArray(input.search)) pairs.push(["q", text])
    for (const pair of joins(input)) pairs.push(pair)
    if (input.desc) for (let at = 0; at < Math.max(1, input.sort.length); at++) pairs.push(["dir", "desc"])
    for (const names of Option.toArray(input.columns)) {
      for (const name of names.split(",")) pairs.push(["col", name.trim()])
    }
    return pairs
  })

/** The parameters of the API's selection, by their own names. */
export const SELECTION = {
  q: one("q", "Search in all columns"),
  fc: many("fc", "Filter column; one for each --fo and --fv"),
  fo: many("fo", "Filter condition: eq, ne, gt, ge, lt, le, contains, empty or notempty"),
  fv: many("fv", "A filter's value"),
  fj: many("fj", "Joins two adjacent filters: and, or or; those joined by or form a group"),
  per: one("per", "The date column of a period"),
  from: one("from", "First day of the period, YYYY-MM-DD"),
  to: one("to", "Last day of the period"),
  sort: many("sort", "Sort column; repeat it to sort equal rows by another"),
  dir: many("dir", "asc or desc; one for each --sort"),
  col: many("col", "Exactly these columns, in this order"),
  order: many("order", "These columns first"),
  hide: many("hide", "All columns but these"),
} as const

/** Which page of the selection. */
export const PAGE = {
  limit: one("limit", "Maximum number of rows, 1 to 1000; default: 100"),
  cursor: one("cursor", "Continue from a previous next_cursor"),
} as const

const isGiven = (value: unknown): value is Option.Option<string> | ReadonlyArray<string> =>
  Option.isOption(value) || Array.isArray(value)

export const pairsOf = (input: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, string]> =>
  Object.keys({ ...SELECTION, ...PAGE }).flatMap((name) => {
    const value = input[name]
    if (!isGiven(value)) return []
    const values = Option.isOption(value) ? Option.toArray(value) : value
    return values.map((text) => [name, text] as const)
  })
