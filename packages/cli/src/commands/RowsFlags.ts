/**
 * Translates the flags of `cabinet rows` that a person would write into the API's selection: `--where "total>=10"` is a
 * column, a condition and a value. A selection that they cannot express, such as a column with a `=` in its name, takes the
 * API's own parameters.
 */
import { Result } from "effect"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const CONDITIONS: Readonly<Record<string, string>> = {
  "=": "eq",
  "!=": "ne",
  ">": "gt",
  ">=": "ge",
  "<": "lt",
  "<=": "le",
  "~": "contains",
  "is empty": "empty",
  "is not empty": "notempty",
}

/** The condition begins at its first sign; a value may hold any sign, and keeps its inner spaces. */
const WHERE = /^([^=!<>~]+?)\s*(>=|<=|!=|=|>|<|~)\s*(.*)$/s
const EMPTY = /^(.+?)\s+(is empty|is not empty)$/s

/** Fails with the form that the flag must have. */
export const wherePairs = (text: string): Result.Result<Pairs, string> => {
  const [, column, condition, value = ""] = EMPTY.exec(text) ?? WHERE.exec(text) ?? []
  if (column === undefined || condition === undefined) {
    return Result.fail(
      `--where must be a column, one of = != > >= < <= ~ and a value, such as "total>=10", or "total is empty", and not ${JSON.stringify(text)}`,
    )
  }
  return Result.succeed([
    ["fc", column.trim()],
    ["fo", CONDITIONS[condition]!],
    ["fv", value],
  ])
}

const PERIOD = /^(.+?)=(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/s

export const periodPairs = (text: string): Result.Result<Pairs, string> => {
  const [, column, from, to] = PERIOD.exec(text) ?? []
  if (column === undefined || (from === undefined && to === undefined)) {
    return Result.fail(
      `--period must be a date column and days, such as created=2026-01-01..2026-01-31, and not ${JSON.stringify(text)}`,
    )
  }
  return Result.succeed([
    ["per", column],
    ...(from === undefined ? [] : [["from", from] as const]),
    ...(to === undefined ? [] : [["to", to] as const]),
  ])
}
