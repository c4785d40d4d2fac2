/** `cabinet rows SCHEMA.NAME`: rows of a table or view by a selection, in the API's form. */
import type { Json } from "@data-cabinet/core/json/Json"
import { JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { columnShape } from "@data-cabinet/core/row/Table"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import type { Column } from "@data-cabinet/core/row/Table"
import { comparesNumber } from "@data-cabinet/core/selection/TextOrder"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, report } from "../output/Report.ts"
import { EXAMPLES } from "./Examples.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { FRIENDLY, friendlyPairs, PAGE, pairsOf, SELECTION } from "./SelectionFlags.ts"
import { withSelectionHints } from "./SelectionHints.ts"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** A value as shown in a cell; a number keeps its digits. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return value
  return value instanceof JsonNumber ? value.token : jsonText(value)
}

/** The values of a row by name, each as the text of a cell. */
export const rowCells = (item: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const row = ownJson(item)
  return names.map((name) => cellText(row instanceof Map ? (row.get(name) as Json | undefined) : undefined))
}

/** The type that a filter by size would need, if it compares numbers in a shown text column. */
const textOrderNote = (params: Pairs, shown: ReadonlyArray<Column>): string => {
  const named = (name: string) => params.flatMap(([other, value]) => (other === name ? [value] : []))
  const [filtered, conditions, values] = [named("fc"), named("fo"), named("fv")]
  const misled = filtered.find(
    (name, at) =>
      comparesNumber(conditions[at] ?? "", values[at] ?? "") &&
      shown.some((column) => column.name === name && column.type === "text"),
  )
  return misled === undefined
    ? ""
    : `\n\n${misled} is a column of text and compared as text: 9.50 comes after 10. See: cabinet table column --help`
}

export const rowsCommand = Command.make(
  "rows",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table or view, such as sources.orders")),
    ...FRIENDLY,
    ...SELECTION,
    ...PAGE,
    ...settingFlags("timeZone", "statementTimeout", "lockTimeout"),
  },
  (input) =>
    withCabinet(input, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(input.object)
        const rows = yield* SelectRows
        const friendly = yield* friendlyPairs(input)
        const params = [...friendly, ...pairsOf(input)]
        const page = yield* fromCall((call) => rows.page({ schema, name, params }, call)).pipe(
          withSelectionHints(input.object, input),
        )
        const items = page.items.texts()
        const value = {
          data: new JsonText(`[${items.join(",")}]`),
          has_more: page.hasMore,
          next_cursor: page.nextCursor,
          columns: page.columns.map(columnShape.json),
        }
        const names = page.columns.map((column) => column.name)
        const more = page.hasMore ? `\n\nMore results: --cursor ${page.nextCursor}` : ""
        const note = textOrderNote(params, page.columns)
        yield* report(
          yield* format,
          value,
          (style) =>
            columns(
              names,
              items.map((item) => rowCells(item, names)),
              { style, none: "No rows." },
            ) +
            more +
            note,
        )
      }),
    ),
).pipe(Command.withExamples(EXAMPLES.rows), Command.withDescription("Read rows of a table or view"))
