/** `cabinet export SCHEMA.NAME --to FILE`: all rows of a selection as a file, whole or not at all. */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { EXPORT_FORMATS, type ExportFormat } from "@data-cabinet/core/export/ExportFormat"
import { parseInterval } from "@data-cabinet/core/poll/PollSchedule"
import { counted } from "@data-cabinet/core/text/Counted"
import { fileEncoder } from "@data-cabinet/http-node/export/FileEncoder"
import { Clock, Effect, Option, Schedule } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { outputFile, standardOutput } from "../output/OutputFile.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { EXAMPLES } from "./Examples.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { type WrittenEvents, writeEvents, writeNextEvents } from "./EventExport.ts"
import { type OnProgress, writeRows, type Written } from "./WriteRows.ts"
import { staysUntilSignal } from "../process/Signals.ts"
import { FRIENDLY, friendlyPairs, pairsOf, SELECTION } from "./SelectionFlags.ts"
import { withSelectionHints } from "./SelectionHints.ts"
import { usage, STDOUT, formatOf, type ShapeFlags, shapeOf } from "./ExportShapeFlags.ts"

const yes = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

/** `--to` names the file, and `--dir` a directory: a period is given by `--period`, a direction by `--desc`. */
const { per: _per, from: _from, to: _to, dir: _dir, ...OWN_NAMES } = SELECTION

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

interface Input extends ShapeFlags {
  readonly object: Option.Option<string>
  readonly to: Option.Option<string>
  readonly format: Option.Option<ExportFormat>
  readonly live: boolean
  readonly events: boolean
  readonly after: Option.Option<string>
  readonly dir: Option.Option<string>
  readonly follow: boolean
  readonly every: Option.Option<string>
}

type RowsInput = Input & Parameters<typeof friendlyPairs>[0]

/** Whether events are exported; refuses flags that do not go together. */
const whichExport = (input: RowsInput) =>
  Effect.gen(function* () {
    const { after, dir, every, follow, events, object, to, live } = input
    if (!events) {
      if (Option.isNone(object)) return yield* usage("Name a table or view, such as sources.orders, or pass --events.")
      if (Option.isNone(to)) return yield* usage("Name a file: --to FILE.")
      const isMixed = follow || [after, dir, every].some(Option.isSome)
      return isMixed ? yield* usage("--after, --dir, --follow and --every go with --events.") : false
    }
    if (Option.isSome(object)) return yield* usage("Export either a table or view, or --events.")
    const selects = [...(yield* friendlyPairs(input)), ...pairsOf({ ...input, to: undefined, dir: undefined })]
    if (selects.length > 0 || live) return yield* usage("All events are exported: leave the selection out.")
    if (Option.isSome(to) === Option.isSome(dir))
      return yield* usage("With --events give either --to FILE or --dir DIR.")
    if (follow && Option.isNone(dir)) return yield* usage("With --follow give --dir DIR.")
    return !follow && Option.isSome(every) ? yield* usage("--every goes with --follow.") : true
  })

const chosenShape = Effect.fnUntraced(function* (input: Input, to: string) {
  const chosen = formatOf(to, Option.getOrUndefined(input.format))
  if (typeof chosen !== "string") return yield* chosen
  const shape = shapeOf(chosen, input)
  if (shape instanceof CommandError) return yield* shape
  return { chosen, shape }
})

const rowsOf = Effect.fnUntraced(function* (input: RowsInput, tell: OnProgress) {
  const { schema, name } = yield* objectNamed(Option.getOrElse(input.object, () => ""))
  const to = Option.getOrElse(input.to, () => STDOUT)
  const { chosen, shape } = yield* chosenShape(input, to)
  const shown = yield* format
  const isStdout = to === STDOUT
  if (isStdout && shown !== false) {
    return yield* usage("Standard output takes either the rows or a JSON document: name a file, or leave --json out.")
  }
  const params = [...(yield* friendlyPairs(input)), ...pairsOf({ ...input, to: undefined, dir: undefined })]
  const { rows, bytes, isSnapshot } = yield* Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* ExportRows.use((exports) => exports.open({ schema, name, params, live: input.live })).pipe(
        withSelectionHints(`${schema}.${name}`, { ...input }),
      )
      const output = isStdout ? standardOutput() : yield* outputFile(to)
      const written = yield* Effect.tryPromise({
        try: () => writeRows(opened, fileEncoder(chosen, name, shape), output, tell),
        catch: asError,
      })
      return { ...written, isSnapshot: opened.isSnapshot }
    }),
  )
  if (isStdout) return
  const how = isSnapshot
    ? "as it was at one moment"
    : "page by page: a row that changed meanwhile is as it was when its page was read"
  yield* report(
    shown,
    { file: to, format: chosen, rows, bytes, snapshot: isSnapshot },
    () => `${counted(rows, "row")} of ${schema}.${name} exported into ${to} (${megabytes(bytes)}), ${how}.`,
  )
})

const reportEvents = (chosen: ExportFormat, { file, events, bytes, nextCursor }: WrittenEvents) =>
  Effect.flatMap(format, (shown) =>
    report(shown, { file, format: chosen, events, bytes, next_cursor: nextCursor }, () =>
      file === null ? "No new events." : `${counted(events, "event")} exported into ${file} (${megabytes(bytes)}).`,
    ),
  )

const DEFAULT_SECONDS = 3_600
const RETRY_INTERVAL = "5 seconds"

const isUnavailable = (error: Error): boolean => "_tag" in error && error._tag === "StoreUnavailable"

const eventsOf = Effect.fnUntraced(function* (input: Input, tell: OnProgress) {
  const after = Option.getOrUndefined(input.after)
  if (Option.isNone(input.dir)) {
    const to = Option.getOrElse(input.to, () => STDOUT)
    if (to === STDOUT) return yield* usage("With --events name a file: the next cursor is written beside it.")
    const { chosen, shape } = yield* chosenShape(input, to)
    return yield* reportEvents(chosen, yield* writeEvents(to, { after, format: chosen, shape, tell }, true))
  }
  const chosen = Option.getOrElse(input.format, (): ExportFormat => "ndjson")
  const shape = shapeOf(chosen, input)
  if (shape instanceof CommandError) return yield* shape
  const seconds = Option.isNone(input.every) ? DEFAULT_SECONDS : parseInterval(input.every.value)
  if (seconds === null) return yield* usage("--every must be from 10s to 30d: a number followed by s, m, h or d.")
  for (let given = after; ; given = undefined) {
    const next = writeNextEvents(input.dir.value, { after: given, format: chosen, shape, tell })
    if (!input.follow) return yield* reportEvents(chosen, yield* next)
    const written = yield* next.pipe(
      Effect.tapError((error) =>
        isUnavailable(error) ? Effect.logWarning(`${error.message} Waiting until it is available again.`) : Effect.void,
      ),
      // The unfinished file is dropped, and the export resumes after the last complete one.
      Effect.retry({ while: isUnavailable, schedule: Schedule.spaced(RETRY_INTERVAL) }),
    )
    if (written.file !== null) yield* reportEvents(chosen, written)
    yield* Effect.sleep(`${seconds} seconds`)
  }
})

export const exportCommand = Command.make(
  "export",
  {
    object: Argument.String("SCHEMA.NAME").pipe(
      Argument.withDescription("The table or view, such as sources.orders"),
      Argument.optional,
    ),
    to: Flag.String("to").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The file, created or replaced once it is complete; - for standard output"),
      Flag.optional,
    ),
    events: yes("events", "Export the events of the feed, and write the cursor to continue from to FILE.cursor"),
    after: Flag.String("after").pipe(
      Flag.withMetavar("CURSOR"),
      Flag.withDescription("With --events: only events after this cursor; default: all"),
      Flag.optional,
    ),
    dir: Flag.String("dir").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("With --events: write the next file of this directory, continuing after its last one"),
      Flag.optional,
    ),
    follow: yes("follow", "With --dir: keep running, and write a file whenever there are new events"),
    every: Flag.String("every").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("With --follow: how often to look for new events, such as 30s, 15m, 1h or 1d; default: 1h"),
      Flag.optional,
    ),
    format: Flag.Literals("format", EXPORT_FORMATS).pipe(
      Flag.withDescription("Format of the file; default: by its extension, csv for standard output"),
      Flag.optional,
    ),
    live: yes("live", "Read page by page instead of from one snapshot"),
    delimiter: Flag.String("delimiter").pipe(
      Flag.withMetavar("CHAR"),
      Flag.withDescription("Delimiter of CSV: a character, or tab; default: a comma"),
      Flag.optional,
    ),
    decimal: Flag.String("decimal").pipe(
      Flag.withMetavar("COLUMN=P,S"),
      Flag.withDescription(
        "In Parquet: write the column as a decimal of P digits, S of them after the point; repeatable",
      ),
      Flag.between(0, 1000),
    ),
    text: Flag.String("text").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription("In Parquet: write the column as text; repeatable"),
      Flag.between(0, 1000),
    ),
    bom: yes("bom", "Begin CSV with a byte order mark, so that Excel recognizes UTF-8"),
    safeForSpreadsheets: yes("safe-for-spreadsheets", "Put an apostrophe before texts that would run as formulas"),
    ...FRIENDLY,
    ...OWN_NAMES,
    ...settingFlags("timeZone", "lockTimeout"),
  },
  (input) =>
    withCabinet(input, () =>
      Effect.gen(function* () {
        const isEvents = yield* whichExport(input)
        const bar = progressBar()
        const clock = yield* Clock.Clock
        const tell = (unit: string) => (written: Readonly<Written>) =>
          bar.count(
            "export",
            `${counted(written.rows, unit)}, ${megabytes(written.bytes)}`,
            clock.currentTimeMillisUnsafe(),
          )
        const work = Effect.gen(function* () {
          if (isEvents) yield* eventsOf(input, tell("event"))
          else yield* rowsOf(input, tell("row"))
        })
        yield* Effect.ensuring(work, Effect.sync(bar.clear))
      }),
    ).pipe((work) => (input.follow ? Effect.andThen(staysUntilSignal, work) : work)),
).pipe(
  Command.withExamples(EXAMPLES.export),
  Command.withDescription("Export rows of a table or view, or events, to a file"),
)
