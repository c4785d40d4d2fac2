/** `cabinet rows SCHEMA.NAME`: rows of a table or view by a selection, in the API's form. */
import type { Json } from "@data-cabinet/core/json/Json"
import { JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { columnJson } from "@data-cabinet/core/row/TableJson"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { periodPairs, wherePairs } from "./RowsFlags.ts"

/** A value as shown in a cell; a number keeps its digits. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return value
  return value instanceof JsonNumber ? value.token : jsonText(value)
}

/** The values of a row by name, each as the text of a cell. */
export const rowCells = (item: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const row = Result.getOrThrow(parseJson(item, { maxDepth: 10_000 }))
  return names.map((name) => cellText(row instanceof Map ? (row.get(name) as Json | undefined) : undefined))
}

const one = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TEXT"), Flag.withDescription(about), Flag.optional)

const many = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TEXT"), Flag.withDescription(about), Flag.between(0, 1000))

/** A selection as a person would write it. */
const FRIENDLY = {
  where: Flag.String("where").pipe(
    Flag.withMetavar("CONDITION"),
    Flag.withDescription('Filter rows, such as "total>=10", "name~smith" or "name is empty"; repeatable'),
    Flag.between(0, 1000),
  ),
  period: one("period", "Only rows of this period, such as created=2026-01-01..2026-01-31"),
  search: one("search", "Search in all columns"),
  desc: Flag.Boolean("desc").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Sort in descending order"),
    Flag.withDefault(false),
  ),
  columns: one("columns", "Only these columns, in this order, separated by commas"),
} as const

const friendlyPairs = (input: {
  readonly where: ReadonlyArray<string>
  readonly period: Option.Option<string>
  readonly search: Option.Option<string>
  readonly desc: boolean
  readonly columns: Option.Option<string>
}) =>
  Effect.gen(function* () {
    const read = [...input.where.map(wherePairs), ...Option.toArray(input.period).map(periodPairs)]
    const pairs: Array<readonly [string, string]> = []
    for (const flag of read) {
      if (Result.isFailure(flag)) return yield* new CommandError({ code: "usage", message: flag.failure })
      for (const pair of flag.success) pairs.push(pair)
    }
    for (const text of Option.toArray(input.search)) pairs.push(["q", text])
    if (input.desc) pairs.push(["dir", "desc"])
    for (const names of Option.toArray(input.columns)) {
      for (const name of names.split(",")) pairs.push(["col", name.trim()])
    }
    return pairs
  })

/** The parameters of the API's selection, by their own names. */
const SELECTION = {
  q: one("q", "Search in all columns"),
  fc: many("fc", "Filter column; one for each --fo and --fv"),
  fo: many("fo", "Filter condition: eq, ne, gt, ge, lt, le, contains, empty or notempty"),
  fv: many("fv", "A filter's value"),
  per: one("per", "The date column of a period"),
  from: one("from", "First day of the period, YYYY-MM-DD"),
  to: one("to", "Last day of the period"),
  sort: one("sort", "Sort column"),
  dir: one("dir", "asc or desc"),
  col: many("col", "Exactly these columns, in this order"),
  order: many("order", "These columns first"),
  hide: many("hide", "All columns but these"),
  limit: one("limit", "Maximum number of rows, 1 to 1000; default: 100"),
  cursor: one("cursor", "Continue from a previous next_cursor"),
} as const

const isGiven = (value: unknown): value is Option.Option<string> | ReadonlyArray<string> =>
  Option.isOption(value) || Array.isArray(value)

const pairsOf = (input: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, string]> =>
  Object.keys(SELECTION).flatMap((name) => {
    const value = input[name]
    if (!isGiven(value)) return []
    const values = Option.isOption(value) ? Option.toArray(value) : value
    return values.map((text) => [name, text] as const)
  })

export const rowsCommand = Command.make(
  "rows",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table or view, such as sources.orders")),
    ...FRIENDLY,
    ...SELECTION,
    ...settingFlags("timeZone", "statementTimeout", "lockTimeout"),
  },
  (input) =>
    withCabinet(input, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(input.object)
        const rows = yield* SelectRows
        const friendly = yield* friendlyPairs(input)
        const page = yield* fromCall((call) =>
          rows.page({ schema, name, params: [...friendly, ...pairsOf(input)] }, call),
        )
        const items = page.items.texts()
        const value = {
          data: new JsonText(`[${items.join(",")}]`),
          has_more: page.hasMore,
          next_cursor: page.nextCursor,
          columns: page.columns.map(columnJson),
        }
        const names = page.columns.map((column) => column.name)
        const more = page.hasMore ? `\n\nMore results: --cursor ${page.nextCursor}` : ""
        yield* report(
          yield* format,
          value,
          (style) =>
            columns(
              names,
              items.map((item) => rowCells(item, names)),
              { style, none: "No rows." },
            ) + more,
        )
      }),
    ),
).pipe(Command.withDescription("Read rows of a table or view"))
