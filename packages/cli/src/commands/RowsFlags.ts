/**
 * Translates the flags of `cabinet rows` that a person would write into the API's selection: `--where "total>=10"` is a
 * column, a condition and a value. A selection that they cannot express, such as a column with a `=` in its name, takes the
 * API's own parameters.
 */
import type { FieldFilter, FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { SIGNS } from "@data-cabinet/core/selection/Selection"
import { Result, Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const CONDITIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(SIGNS).map(([condition, sign]) => [sign, condition])),
  "is empty": "empty",
  "is not empty": "notempty",
}

/** `is empty` and `is not empty` come last, after the column and a space. */
const emptyPairs = (text: string): Pairs | undefined => {
  const words = ["is not empty", "is empty"].find((end) => text.endsWith(` ${end}`))
  const column = words === undefined ? "" : text.slice(0, -words.length).trim()
  if (words === undefined || column === "" || /[=!<>~]/.test(column)) return undefined
  return [
    ["fc", column],
    ["fo", CONDITIONS[words]!],
    ["fv", ""],
  ]
}

/**
 * The condition begins at the first operator sign. A value may contain any sign; spaces at its ends are not part of it.
 */
const comparisonPairs = (text: string): Pairs | undefined => {
  const at = text.search(/[=!<>~]/)
  const sign = [text.slice(at, at + 2), text.slice(at, at + 1)].find((one) => Object.hasOwn(CONDITIONS, one))
  const column = text.slice(0, Math.max(0, at)).trim()
  if (sign === undefined || column === "") return undefined
  return [
    ["fc", column],
    ["fo", CONDITIONS[sign]!],
    ["fv", text.slice(at + sign.length).trim()],
  ]
}

/** Fails with the form that the flag must have. */
export const wherePairs = (text: string, flag = "--where"): Result.Result<Pairs, string> => {
  const pairs = emptyPairs(text) ?? comparisonPairs(text)
  return pairs === undefined
    ? Result.fail(
        `${flag} must be a column, one of = != > >= < <= ~ and a value, such as "total>=10", or "total is empty", not ${JSON.stringify(text)}`,
      )
    : Result.succeed(pairs)
}

/** The same as the filter of a delivery address, whose fields have the names that their senders give them. */
export const whereFilters = (texts: ReadonlyArray<string>): Result.Result<FieldFilters, string> => {
  const filters: Array<FieldFilter> = []
  for (const text of texts) {
    const pairs = wherePairs(text)
    if (Result.isFailure(pairs)) return Result.fail(pairs.failure)
    filters.push(Object.fromEntries(pairs.success) as unknown as FieldFilter)
  }
  return Result.succeed(filters)
}

const DAYS = /^(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/

export const periodPairs = (text: string): Result.Result<Pairs, string> => {
  const at = text.lastIndexOf("=")
  const [days, from, to] = at < 1 ? [] : (DAYS.exec(text.slice(at + 1)) ?? [])
  if (days === undefined || days === "..") {
    return Result.fail(
      `--period must be a date column and days, such as created=2026-01-01..2026-01-31, not ${JSON.stringify(text)}`,
    )
  }
  return Result.succeed([
    ["per", text.slice(0, at)],
    ...(from === undefined ? [] : [["from", from] as const]),
    ...(to === undefined ? [] : [["to", to] as const]),
  ])
}

/** Conditions for the fields of events, as `--where` writes them. */
export const filtersOf = (texts: ReadonlyArray<string>): Effect.Effect<FieldFilters, CommandError> =>
  Effect.mapError(
    Effect.fromResult(whereFilters(texts)),
    (message) => new CommandError({ code: "usage", message: `${message}.` }),
  )
