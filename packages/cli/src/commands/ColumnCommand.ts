/** `cabinet table column SOURCE [COLUMN]`: the columns of a source's table, their labels and their types. */
import { changeColumn, changedColumnShape } from "@data-cabinet/core/row/ChangeColumn"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { Notation } from "@data-cabinet/core/row/Notation"
import { retypeTrialShape, sourceColumnShape } from "@data-cabinet/core/row/SourceColumnStore"
import { type RetypeTrial, type SourceColumn, SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { counted } from "@data-cabinet/core/text/Counted"
import { columns } from "../output/Columns.ts"
import { plainText } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { EXAMPLES } from "./Examples.ts"
import { withHints } from "./Hints.ts"
import { notationFlags, notationOf } from "./NotationFlags.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

/** Forms send every field as text, so a column meant for numbers is often a text column. */
const textOrder = (sourceId: number, all: ReadonlyArray<SourceColumn>): string =>
  all.some(({ type }) => type === "text")
    ? `\n\nColumns of text are sorted and compared as text: 9.50 comes after 10. For a column of numbers: cabinet table column ${sourceId} COLUMN --type numeric`
    : ""

const showAll = (sourceId: number, all: ReadonlyArray<SourceColumn>) =>
  Effect.flatMap(format, (json) =>
    report(
      json,
      all.map(sourceColumnShape.json),
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
  readonly notation: Notation
}

const change = (name: string, { source, type, label, withViews, notation }: Change) =>
  Effect.gen(function* () {
    const given = { type: Option.getOrUndefined(type), label: Option.getOrUndefined(label), withViews, notation }
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
    yield* report(yield* format, changedColumnShape.json(changed), () => done.join("\n"))
  })

const consequences = (name: string, type: string, { misfits, examples, sibling, views }: RetypeTrial) => [
  misfits === null
    ? `There are too many values to check in a few seconds. Those that do not fit ${type} would move to ${sibling}.`
    : misfits === 0
      ? `Every value of ${name} fits the type ${type}.`
      : `${counted(misfits, "value of", "values of")} ${name} would move to ${sibling}. The first:`,
  ...examples.map(({ eventId, value }) => `  event ${eventId}: ${plainText(value)}`),
  ...(views.length > 0 ? [`Would be recreated: ${views.join(", ")}.`] : []),
]

/** The effects of a change of type. */
const tried = (name: string, { source, type, notation }: Change) =>
  Effect.gen(function* () {
    if (Option.isNone(type)) {
      return yield* new CommandError({ code: "usage", message: "--dry-run needs --type: it shows what that would do." })
    }
    const kind = type.value
    const trial = yield* SourceColumns.use((all) => all.tryRetype(source, name, kind, notation))
    yield* report(yield* format, retypeTrialShape.json(trial), () => consequences(name, kind, trial).join("\n"))
  })

const drop = Command.make(
  "drop",
  {
    source: sourceArgument(),
    column: Argument.String("COLUMN").pipe(Argument.withDescription("The column's name in the database")),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = yield* sourceNamed(input.source)
        const dropped = yield* SourceColumns.use((port) => port.drop(sourceId, input.column))
        const words = `Column ${dropped.name} is dropped; the next value of ${plainText(dropped.field)} creates it again.`
        yield* report(yield* format, { source_id: sourceId, dropped: sourceColumnShape.json(dropped) }, () => words)
      }),
    ),
).pipe(Command.withDescription("Drop an unused column without values"))

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
        "New type of the column, which decides how it sorts and compares (as text, 9.50 comes after 10). Values that do not fit move to a sibling column",
      ),
      Flag.optional,
    ),
    ...notationFlags("the column"),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show what a change of type would do, without doing it"),
      Flag.withDefault(false),
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
        const notation = notationOf(input)
        const noted = (notation.numbers ?? notation.dates) !== undefined
        if (noted && Option.isNone(input.type)) {
          return yield* new CommandError({ code: "usage", message: "--numbers and --dates need --type." })
        }
        const changes = Option.isSome(input.type) || Option.isSome(input.label) || input.dryRun
        if (Option.isNone(input.column)) {
          if (changes)
            return yield* new CommandError({ code: "usage", message: "COLUMN is missing: name the column to change." })
          return yield* showAll(sourceId, yield* SourceColumns.use((port) => port.list(sourceId)))
        }
        const name = input.column.value
        const wish = { ...input, source: sourceId, notation }
        if (input.dryRun) return yield* tried(name, wish)
        if (changes) return yield* change(name, wish)
        const all = yield* SourceColumns.use((port) => port.list(sourceId))
        const found = all.filter((one) => one.name === name)
        if (found.length > 0) return yield* showAll(sourceId, found)
        const message = `Source ${sourceId} has no column ${name}.`
        return yield* new CommandError({ code: "refused", message })
      }),
    ),
).pipe(
  Command.withExamples(EXAMPLES.column),
  Command.withDescription("List a source's columns, or change a column's type or label"),
  Command.withSubcommands([drop]),
)
