/** `cabinet import list`, `show`, `cancel` and `undo`: the imports of a cabinet, and the ways back from one. */
import { importShape, type ImportStatus, type KeptColumn } from "@data-cabinet/core/file/ImportStore"
import { undoPreviewShape } from "@data-cabinet/core/file/ImportUndoStore"
import { Imports, type UndoPreview } from "@data-cabinet/core/file/Imports"
import { undoWhole } from "@data-cabinet/core/file/ContinueUndo"
import { Clock, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { counted } from "@data-cabinet/core/text/Counted"
import { columns } from "../output/Columns.ts"
import { doubtLines } from "../output/DoubtLines.ts"
import { plainText } from "../output/PlainText.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { report } from "../output/Report.ts"
import { confirmedByPerson, yes } from "./Confirm.ts"
import { format, idArgument, withCabinet } from "./Root.ts"

const importArgument = idArgument("ID", "The import's number; cabinet import list shows it")

const MAX_LISTED = 100

const endOf = ({ state, cancelledAt }: ImportStatus): string => (cancelledAt === null ? state : "cancelled")

const stateOf = (one: ImportStatus): string => one.undo?.state ?? endOf(one)

const showAll = (all: ReadonlyArray<ImportStatus>) =>
  Effect.flatMap(format, (json) =>
    report(json, all.map(importShape.json), (style) =>
      columns(
        ["ID", "SOURCE", "FILE", "STATE", "ACCEPTED", "OF ROWS", "CREATED"],
        all.map((one) => [
          String(one.id),
          String(one.sourceId),
          plainText(one.name),
          stateOf(one),
          String(one.accepted),
          String(one.staged),
          one.createdAt,
        ]),
        { style, none: "No file was imported yet. Import one with: cabinet import SOURCE FILE" },
      ),
    ),
  )

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.flatMap(
      Imports.use((imports) => imports.list(MAX_LISTED)),
      showAll,
    ),
  ),
).pipe(Command.withDescription("List the newest file imports and their progress"))

const named = (names: ReadonlyArray<string>): string => names.map(plainText).join(", ")

const keptLines = (kept: ReadonlyArray<KeptColumn>) => kept.map(({ reason }) => `  ${plainText(reason)}`)

const lines = (one: ImportStatus): ReadonlyArray<string> => {
  const { undo } = one
  const head = `Import ${one.id} of ${plainText(one.name)} into source ${one.sourceId}: ${endOf(one)}, ${one.accepted} of ${counted(one.staged, "row")} accepted.`
  const doubts = doubtLines(one.doubts)
  if (undo === null) return [head, ...(one.failure === null ? [] : [plainText(one.failure)]), ...doubts]
  const moved = counted(undo.events, "event")
  if (undo.state === "undoing") return [head, `It is being undone: ${moved} moved to the trash so far.`, ...doubts]
  return [
    head,
    `It is undone: ${moved} moved to the trash with ${undo.events === 1 ? "its row" : "their rows"}.`,
    ...(undo.columns.length > 0 ? [`Dropped: ${named(undo.columns)}.`] : []),
    ...keptLines(undo.kept),
    ...doubts,
  ]
}

const showOne = (one: ImportStatus) =>
  Effect.flatMap(format, (json) => report(json, importShape.json(one), () => lines(one).join("\n")))

const show = Command.make("show", { id: importArgument }, ({ id }) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Imports.use((imports) => imports.get(id)),
      showOne,
    ),
  ),
).pipe(Command.withDescription("Show the progress of an import or of its undo"))

const cancel = Command.make("cancel", { id: importArgument }, ({ id }) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Imports.use((imports) => imports.cancel(id)),
      showOne,
    ),
  ),
).pipe(Command.withDescription("End an import, whichever process runs it; the rows accepted so far stay"))

const consequences = (preview: UndoPreview): ReadonlyArray<string> => [
  `${counted(preview.events, "event")} and ${counted(preview.rows, "row")} would move to the trash${preview.inTrash > 0 ? `; ${preview.inTrash} are there already` : ""}.`,
  preview.columns.length > 0
    ? `${counted(preview.columns.length, "column")} would be dropped: ${named(preview.columns)}.`
    : "No column would be dropped.",
  ...keptLines(preview.kept),
  ...(preview.deliveries > 0
    ? [`${counted(preview.deliveries, "delivery", "deliveries")} of these events were created, and are kept.`]
    : []),
]

const undoing = (id: number) =>
  Effect.suspend(() => {
    const bar = progressBar()
    const draw = ({ undo, accepted }: ImportStatus) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const done = undo?.position ?? 0
        bar.draw("undoing", accepted === 0 ? 1 : done / accepted, `${done} of ${accepted} rows`, now)
      })
    return Effect.ensuring(undoWhole(id, draw), Effect.sync(bar.clear))
  })

const undo = Command.make(
  "undo",
  {
    id: importArgument,
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show how many events, rows and columns would be removed, without removing them"),
      Flag.withDefault(false),
    ),
    yes,
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const imports = yield* Imports
        const { undo: begun } = yield* imports.get(input.id)
        if (begun === null || input.dryRun) {
          const preview = yield* imports.tryUndo(input.id)
          const found = consequences(preview)
          if (input.dryRun) return yield* report(yield* format, undoPreviewShape.json(preview), () => found.join("\n"))
          yield* confirmedByPerson(input.yes, `${found.join("\n")}\nUndo import ${input.id}?`)
        }
        yield* showOne(yield* undoing(input.id))
      }),
    ),
).pipe(Command.withDescription("Move all events of an import to the trash, and drop the columns that only it filled"))

export const importSubcommands = [list, show, cancel, undo] as const
