/** `cabinet table column SOURCE [COLUMN]`: the columns of a source's table, their labels and their types. */
import { changeColumn } from "@data-cabinet/core/row/ChangeColumn"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { changedColumnJson, sourceColumnJson } from "@data-cabinet/core/row/SourceColumnJson"
import { type SourceColumn, SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { withHints } from "./Hints.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

/** Forms send every field as text, so that a column that was meant for numbers is often one of text. */
const textOrder = (sourceId: number, all: ReadonlyArray<SourceColumn>): string =>
  all.some(({ type }) => type === "text")
    ? `\n\nColumns of text are sorted and compared as text: 9.50 comes after 10. For a column of numbers: cabinet table column ${sourceId} COLUMN --type numeric`
    : ""

const showAll = (sourceId: number, all: ReadonlyArray<SourceColumn>) =>
  Effect.flatMap(format, (json) =>
    report(
      json,
      all.map(sourceColumnJson),
      (style) =>
        columns(
          ["COLUMN", "TYPE", "SINCE EVENT", "CREATED", "FIELD", "LABEL"],
          all.map((column) => [
            column.name,
            column.type,
            column.eventId === null ? "" : String(column.eventId),
            column.createdAt,
            column.field,
            column.label,
          ]),
          { style, none: "No columns yet: the first submission creates them." },
        ) + textOrder(sourceId, all),
    ),
  )

interface Change {
  readonly source: number
  readonly type: Option.Option<(typeof COLUMN_KINDS)[number]>
  readonly label: Option.Option<string>
  readonly withViews: boolean
}

const change = (name: string, { source, type, label, withViews }: Change) =>
  Effect.gen(function* () {
    const given = { type: Option.getOrUndefined(type), label: Option.getOrUndefined(label), withViews }
    const changed = yield* SourceColumns.use((all) => changeColumn(all, source, name, given)).pipe(
      withHints(withViews ? {} : { views_depend: "--with-views recreates dependent views." }),
    )
    const { column, retyped } = changed
    const done: Array<string> = []
    if (retyped !== undefined) {
      done.push(`Column ${name} now has the type ${retyped.column.type}.`)
      if (retyped.moved > 0) done.push(`${retyped.moved} values that do not fit were moved to ${retyped.sibling}.`)
      if (retyped.views.length > 0) done.push(`Recreated: ${retyped.views.join(", ")}.`)
    }
    if (Option.isSome(label)) done.push(`Column ${name} is labelled ${column.label}.`)
    yield* report(yield* format, changedColumnJson(changed), () => done.join("\n"))
  })

export const column = Command.make(
  "column",
  {
    source: sourceArgument(),
    column: Argument.String("COLUMN").pipe(
      Argument.withDescription("The column's name in the database; default: list all columns"),
      Argument.optional,
    ),
    type: Flag.Literals("type", COLUMN_KINDS).pipe(
      Flag.withDescription(
        "Change the column to this type, by which it is sorted and compared (as text, 9.50 comes after 10); values that do not fit move to a sibling column",
      ),
      Flag.optional,
    ),
    withViews: Flag.Boolean("with-views").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Recreate dependent views with their privileges"),
      Flag.withDefault(false),
    ),
    label: Flag.String("label").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Set the label shown for the column"),
      Flag.optional,
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = yield* sourceNamed(input.source)
        const asked = Option.isSome(input.type) || Option.isSome(input.label)
        if (Option.isNone(input.column)) {
          if (asked)
            return yield* new CommandError({ code: "usage", message: "COLUMN is missing: name the column to change." })
          return yield* showAll(sourceId, yield* SourceColumns.use((port) => port.list(sourceId)))
        }
        const name = input.column.value
        if (asked) return yield* change(name, { ...input, source: sourceId })
        const all = yield* SourceColumns.use((port) => port.list(sourceId))
        const found = all.filter((one) => one.name === name)
        if (found.length > 0) return yield* showAll(sourceId, found)
        const message = `Source ${sourceId} has no column ${name}.`
        return yield* new CommandError({ code: "refused", message })
      }),
    ),
).pipe(Command.withDescription("List a source's columns, or change a column's type or label"))
