/** `cabinet table rebuild SOURCE`: writes the table of a source again from its events, with other types, names and order. */
import { readFile } from "node:fs/promises"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import {
  type RebuildPreview,
  rebuildPreviewShape,
  type RebuildWishes,
  type WishedColumn,
} from "@data-cabinet/core/row/RebuildStore"
import { rebuildCancelledShape, type RebuildProgress, rebuildResultShape } from "@data-cabinet/core/row/RebuildState"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { counted } from "@data-cabinet/core/text/Counted"
import { Clock, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { plainText } from "../output/PlainText.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

const Wishes = Schema.Array(
  Schema.Struct({
    column: Schema.String,
    type: Schema.optionalKey(Schema.Literals(COLUMN_KINDS)),
    name: Schema.optionalKey(Schema.String),
  }),
)

const usage = (message: string) => new CommandError({ code: "usage", message })

const decoded = Schema.decodeUnknownEffect(Wishes, { onExcessProperty: "error" })

/** The columns in a file of `--types`. */
const wishedIn = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => usage(`--types: ${path} cannot be read.`),
  })
  const json = yield* Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: () => usage(`--types: ${path} is not JSON.`),
  })
  return yield* Effect.mapError(decoded(json), (error) =>
    usage(
      `--types: ${path} is not a list such as [{"column": "total", "type": "numeric", "name": "amount"}]: ${error.message}`,
    ),
  )
})

const columnLine = ({ name, was, type, typeWas, carried }: RebuildPreview["columns"][number]): string => {
  const changes = [
    ...(was === name ? [] : [`was ${was}`]),
    ...(type === typeWas ? [] : [`was of type ${typeWas}`]),
    ...(carried ? ["its values are moved as they are"] : []),
  ]
  return `  ${name} ${type}${changes.length === 0 ? "" : ` (${changes.join(", ")})`}`
}

const listed = (words: string, names: ReadonlyArray<string>) =>
  names.length === 0 ? [] : [`${words}: ${names.map(plainText).join(", ")}.`]

const previewLines = (preview: RebuildPreview): ReadonlyArray<string> => [
  `${preview.table} has ${counted(preview.rows, "row")}. The new table would have these columns first, and others that the events need:`,
  ...preview.columns.map(columnLine),
  ...listed("Left out", preview.dropped),
  ...(preview.rowsWithoutEvent > 0
    ? [`${counted(preview.rowsWithoutEvent, "row")} without an event would be moved as they are.`]
    : []),
  "Values that somebody changed by hand become those of the events again.",
  ...listed("Views that would be recreated", preview.views),
  ...listed("Indexes that would be created with it", preview.indexes),
  ...listed("Indexes that would be built afterwards", preview.indexesLater),
  ...(preview.inTheWay.length === 0
    ? ["Nothing stands in the way."]
    : ["These stand in the way:", ...preview.inTheWay.map((one) => `  ${plainText(one)}`)]),
]

const STEPS: Readonly<Record<RebuildProgress["step"], string>> = {
  plan: "looking at the table",
  rows: "rows",
  indexes: "indexes",
  changes: "changes",
  swap: "waiting for the table",
}

const rebuilding = (sourceId: number, wishes: RebuildWishes) =>
  Effect.suspend(() => {
    const bar = progressBar()
    const draw = ({ step, done, rows }: RebuildProgress) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        bar.draw("rebuilding", rows === 0 ? 0 : done / rows, `${done} of ${rows} rows, ${STEPS[step]}`, now),
      )
    const run = TableRebuild.use((rebuilds) => rebuilds.run(sourceId, wishes, process.stderr.isTTY ? draw : undefined))
    return Effect.ensuring(run, Effect.sync(bar.clear))
  })

export const rebuild = Command.make(
  "rebuild",
  {
    source: sourceArgument(),
    types: Flag.String("types").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        'JSON with the columns that come first, each with a new type or name if it changes: [{"column": "total", "type": "numeric", "name": "amount"}]',
      ),
      Flag.optional,
    ),
    withoutEmpty: Flag.Boolean("without-empty").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Drop unused columns without values"),
      Flag.withDefault(false),
    ),
    nestBrackets: Flag.Boolean("nest-brackets").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Nest fields like leads[0][name] inside leads, as a source with that setting does"),
      Flag.withDefault(false),
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show the new columns, what is recreated and what prevents the rebuild, without doing it"),
      Flag.withDefault(false),
    ),
    cancel: Flag.Boolean("cancel").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Cancel a rebuild of the table, whichever process runs it; the table does not change"),
      Flag.withDefault(false),
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = yield* sourceNamed(input.source)
        const rebuilds = yield* TableRebuild
        if (input.cancel) {
          const cancelled = yield* rebuilds.cancel(sourceId)
          const words = cancelled ? "The rebuild is cancelled. The table is as it was." : "No rebuild was running."
          return yield* report(yield* format, rebuildCancelledShape.json({ sourceId, cancelled }), () => words)
        }
        const columns: ReadonlyArray<WishedColumn> = Option.isNone(input.types)
          ? []
          : yield* wishedIn(input.types.value)
        const wishes = { columns, withoutEmpty: input.withoutEmpty, nestBrackets: input.nestBrackets }
        if (input.dryRun) {
          const preview = yield* rebuilds.plan(sourceId, wishes)
          return yield* report(yield* format, rebuildPreviewShape.json(preview), () => previewLines(preview).join("\n"))
        }
        const done = yield* rebuilding(sourceId, wishes)
        const words = [
          `${done.table} is rebuilt: ${counted(done.rows, "row")}, ${counted(done.columns.length, "column")}. It was locked for ${done.lockedMillis} ms.`,
          ...listed("Indexes that could not be built", done.indexesMissing),
        ]
        yield* report(yield* format, rebuildResultShape.json(done), () => words.join("\n"))
      }),
    ),
).pipe(
  Command.withDescription("Rebuild a source's table from its events, beside the old one, while data keep arriving"),
)
