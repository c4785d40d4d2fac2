/**
 * `cabinet import SOURCE FILE`: imports a file into a source in the foreground, with a progress bar on a terminal. If
 * it is stopped after the file was staged, the import continues in the server of the cabinet, or with the next
 * `cabinet import`. Below it are `list`, `show`, `cancel` and `undo`; a source with one of these names is named by its
 * number.
 */
import { Import, type ImportProgress, type ImportReport, importJson } from "@data-cabinet/core/file/Import"
import { DELIMITER_UNCLEAR, ONE_COLUMN } from "@data-cabinet/core/file/Delimiter"
import { FILE_FORMATS } from "@data-cabinet/core/file/FileFormat"
import { fileOnDisk } from "@data-cabinet/http-node/file/FileOnDisk"
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { counted } from "@data-cabinet/core/text/Counted"
import { doubtLines } from "../output/DoubtLines.ts"
import { plainText } from "../output/PlainText.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { JsonText, report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { EXAMPLES } from "./Examples.ts"
import { importSubcommands } from "./ImportUndoCommands.ts"
import { withHints } from "./Hints.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { notationFlags, notationOf } from "./NotationFlags.ts"
import { format, withCabinet } from "./Root.ts"

const text = (name: string, value: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar(value), Flag.withDescription(about), Flag.optional)

const yes = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

const drawing = () => {
  const bar = progressBar()
  const draw = ({ phase, done, total }: ImportProgress, now: number) => {
    const part = total === null || total === 0 ? 0 : Math.min(1, done / total)
    bar.draw(phase, part, phase === "accepting" ? `${done} of ${total} rows` : `${Math.round(part * 100)} %`, now)
  }
  return {
    tell: (progress: ImportProgress) => Effect.map(Clock.currentTimeMillis, (now) => draw(progress, now)),
    clear: Effect.sync(bar.clear),
  }
}

/** A delimiter in words, and as `--delimiter` takes it. */
const cellsBy = (delimiter: string): string =>
  delimiter === "none" || delimiter === ONE_COLUMN
    ? "one column"
    : `cells separated by ${delimiter === "\t" ? "tabs" : JSON.stringify(delimiter)}`

const delimiterOption = (delimiter: string): string =>
  delimiter === ONE_COLUMN ? "none" : delimiter === "\t" ? "tab" : `"${delimiter}"`

/** What the file becomes with each delimiter that fits. */
const readingLines = (outcome: ImportReport, style: Style): ReadonlyArray<string> =>
  outcome.readings.flatMap(({ delimiter, preview }) => [
    `--delimiter ${delimiterOption(delimiter)}: ${cellsBy(delimiter)}`,
    ...preview.map((row) => style.dim(`  ${plainText(row)}`)),
  ])

const howRead = (outcome: ImportReport): string =>
  [
    outcome.format.toUpperCase(),
    ...(outcome.encoding === null ? [] : [outcome.encoding]),
    ...(outcome.delimiter === null ? [] : [cellsBy(outcome.delimiter)]),
    ...(outcome.header === null ? [] : [headerWords(outcome)]),
    ...(outcome.sheet === null ? [] : [`sheet ${outcome.sheet}`]),
  ].join(", ")

const headerWords = ({ headerRow }: ImportReport): string =>
  headerRow === null ? "no header" : headerRow === 1 ? "header in the first row" : `header in row ${headerRow}`

const MAX_SHOWN_REFUSALS = 20

const hasNoRows = ({ rows, refused }: ImportReport): boolean => rows === 0 && refused === 0

const noRows = ({ headerRow, bytes }: ImportReport): string =>
  headerRow === null || bytes === 0 ? "no rows" : "no rows below its header"

const lines = (outcome: ImportReport, style: Style): ReadonlyArray<string> => {
  const refusals = outcome.refusals
    .slice(0, MAX_SHOWN_REFUSALS)
    .map(
      ({ line, column, reason }) =>
        `  line ${line}${column === null ? "" : `, column ${column}`}: ${plainText(reason)}`,
    )
  const more =
    outcome.refused > MAX_SHOWN_REFUSALS
      ? [`  and ${outcome.refused - MAX_SHOWN_REFUSALS} more; see them with --dry-run --json`]
      : []
  const replaced =
    outcome.replaced > 0
      ? [
          `${counted(outcome.replaced, "character is", "characters are")} not valid ${outcome.encoding} and replaced by \uFFFD. If the encoding is wrong, pass --encoding.`,
        ]
      : []
  const refused = outcome.refused > 0 ? [`${outcome.refused} refused:`, ...refusals, ...more] : []
  const before =
    outcome.importedBefore === null
      ? []
      : [`It was already imported: import ${outcome.importedBefore.id} of ${outcome.importedBefore.createdAt}.`]
  const notation = outcome.readAs.map(({ field, as, fits, misfits }) => {
    const others = misfits === 0 ? "" : `, ${counted(misfits, "value")} not written so`
    return `  ${plainText(field)}: read as ${as === "text" ? "text" : `${as}s`} (${fits} of ${fits + misfits}${others})`
  })
  const misfits = outcome.misfits.map(
    ({ line, field, value }) => `  line ${line}, ${plainText(field)}: ${plainText(value)} stays text`,
  )
  const preview = outcome.state === "dry_run" ? outcome.preview.map((row) => style.dim(`  ${plainText(row)}`)) : []
  const head = {
    done: hasNoRows(outcome)
      ? `${outcome.file} has ${noRows(outcome)}, so nothing was imported.`
      : `${counted(outcome.accepted, "row")} of ${outcome.file} imported as ${outcome.accepted === 1 ? "an event" : "events"}.`,
    accepting: `${outcome.file} is staged: ${outcome.accepted} of ${counted(outcome.rows, "row")} accepted, the rest is pending${outcome.failure === null ? "" : ` (${outcome.failure})`}.`,
    dry_run: hasNoRows(outcome)
      ? `${outcome.file} has ${noRows(outcome)}, so nothing would be imported.`
      : `${counted(outcome.rows, "row")} of ${outcome.file} would become ${outcome.rows === 1 ? "an event" : "events"}.`,
    refused: `Nothing of ${outcome.file} was imported.`,
    unclear: `Nothing of ${outcome.file} was imported: several delimiters fit.`,
    failed: `The import of ${outcome.file} failed: ${outcome.failure ?? "it cannot continue"}.`,
  }[outcome.state]
  const doubts = [...readingLines(outcome, style), ...doubtLines(outcome.doubts)]
  return [
    head,
    style.dim(howRead(outcome)),
    ...notation,
    ...misfits,
    ...preview,
    ...before,
    ...doubts,
    ...replaced,
    ...refused,
  ]
}

export const importCommand = Command.make(
  "import",
  {
    source: sourceArgument(),
    file: Argument.String("FILE").pipe(
      Argument.withDescription("CSV, TSV, JSON, NDJSON, XLSX, ODS or HTML, as it is or in a .gz or .zip"),
    ),
    format: Flag.Literals("format", FILE_FORMATS).pipe(
      Flag.withDescription("The file's format; default: detected from its name and content"),
      Flag.optional,
    ),
    encoding: text("encoding", "NAME", "The text's encoding: utf-8, utf-16, windows-1251, …; default: detected"),
    delimiter: text(
      "delimiter",
      "CHARS",
      "Cell delimiter: one to four characters, tab, or none for one column; default: detected",
    ),
    header: Flag.Boolean("header").pipe(
      Flag.withDescription("Whether the first row is a header (--no-header: it is not); default: detected"),
      Flag.optional,
    ),
    headerRow: Flag.Int("header-row").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("The line of the header, from 1; lines above it are skipped; default: detected"),
      Flag.optional,
    ),
    sheet: text(
      "sheet",
      "NAME",
      "The workbook's sheet, by name or number (default: the first with rows), or the page's table",
    ),
    pointer: text("pointer", "POINTER", "JSON pointer to the list in a JSON file, such as /data/items"),
    ...notationFlags("the file's texts"),
    dryRun: yes("dry-run", "Read the file and report, but import nothing"),
    again: yes("again", "Import a file again that was already imported"),
    skipRefused: yes("skip-refused", "Import the valid rows and skip the refused ones"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = yield* sourceNamed(input.source)
        const bar = drawing()
        const file = yield* fileOnDisk(input.file)
        const options = {
          format: Option.getOrUndefined(input.format),
          encoding: Option.getOrUndefined(input.encoding),
          delimiter: Option.getOrUndefined(input.delimiter),
          header: Option.getOrUndefined(input.header),
          headerRow: Option.getOrUndefined(input.headerRow),
          sheet: Option.getOrUndefined(input.sheet),
          pointer: Option.getOrUndefined(input.pointer),
          ...notationOf(input),
          dryRun: input.dryRun,
          again: input.again,
          skipRefused: input.skipRefused,
        }
        const outcome = yield* Effect.ensuring(
          Import.use((imports) => imports.file(sourceId, file, options, bar.tell)),
          bar.clear,
        ).pipe(withHints(input.again ? {} : { same_file: "To import it again, pass --again." }))
        const rows = (preview: ReadonlyArray<string>) => preview.map((row) => new JsonText(row))
        const readings = outcome.readings.map((one) => ({ ...one, preview: rows(one.preview) }))
        const value = { ...importJson(outcome), readings, preview: rows(outcome.preview) }
        yield* report(yield* format, value, (style) => lines(outcome, style).join("\n"))
        if (outcome.state === "refused") {
          return yield* new CommandError({
            code: "refused",
            message: `${counted(outcome.refused, "row")} of ${outcome.file} ${outcome.refused === 1 ? "was" : "were"} refused, so nothing was imported. Pass --skip-refused to import the others.`,
          })
        }
        if (outcome.state === "unclear") return yield* new CommandError({ code: "refused", message: DELIMITER_UNCLEAR })
        if (outcome.state === "failed")
          return yield* new CommandError({ code: "refused", message: `The import failed: ${outcome.failure}` })
      }),
    ),
).pipe(
  Command.withExamples(EXAMPLES.import),
  Command.withDescription("Import a file into a source: one event per row, all or nothing"),
  Command.withSubcommands(importSubcommands),
)
