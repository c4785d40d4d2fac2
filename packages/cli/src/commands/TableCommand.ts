/** `cabinet table …`: the readable tables and views, and the maintenance of sources' tables. */
import { Tables } from "@data-cabinet/core/row/Tables"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { column } from "./ColumnCommand.ts"
import { CommandError } from "../error/CommandError.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withCabinet } from "./Root.ts"
import { meantTable } from "./SelectionHints.ts"
import { searchIndex } from "./SearchIndexCommand.ts"
import { rebuild } from "./TableRebuildCommand.ts"
import { tableIndex } from "./TableIndexCommand.ts"
import { latest } from "./TableLatestCommand.ts"
import { EXAMPLES } from "./Examples.ts"

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Tables.use((tables) => tables.list)
      yield* report(yield* format, all, (style) =>
        columns(
          ["TABLE", "KIND", "SOURCE", "ROWS, ABOUT", "COMMENT"],
          all.map((one) => [
            `${one.schema}.${one.name}`,
            one.kind,
            one.source?.name ?? "",
            one.rows_estimate === null ? "" : String(one.rows_estimate),
            one.comment ?? "",
          ]),
          { style, none: "No tables yet: the first event of a source creates its table." },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List readable tables and views"))

const objectArgument = Argument.String("SCHEMA.NAME").pipe(
  Argument.withDescription("The table or view, such as sources.orders"),
)

const show = Command.make("show", { object: objectArgument }, ({ object }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { schema, name } = yield* objectNamed(object)
      const found = yield* Tables.use((tables) => tables.find(schema, name))
      if (Option.isNone(found)) {
        const message = `There is no readable table or view ${object}. ${yield* meantTable(object)}`
        return yield* new CommandError({ code: "refused", message })
      }
      const detail = found.value
      yield* report(yield* format, detail, (style) =>
        columns(
          ["COLUMN", "TYPE", "LABEL", "COMMENT"],
          detail.columns.map((one) => [one.name, one.type, one.label, one.comment ?? ""]),
          { style, none: "It has no columns." },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("Show the columns of a table or view"))

export const tableCommand = Command.make("table").pipe(
  Command.withExamples(EXAMPLES.table),
  Command.withDescription("List tables and views, and manage the tables of sources"),
  Command.withSubcommands([list, show, column, tableIndex, searchIndex, latest, rebuild]),
)
