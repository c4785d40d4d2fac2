/** `cabinet export SCHEMA.NAME --to FILE`: all rows of a selection as a file, whole or not at all. */
import { type ExportedRows, ExportRows } from "@data-cabinet/core/export/ExportRows"
import {
  type DecimalDigits,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportShape,
  type RowEncoder,
} from "@data-cabinet/core/export/ExportFormat"
import { refusedDelimiter } from "@data-cabinet/core/export/RowText"
import { counted } from "@data-cabinet/core/text/Counted"
import { fileEncoder } from "@data-cabinet/http-node/export/FileEncoder"
import { decimalDigits } from "@data-cabinet/http-node/export/ParquetRows"
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Output, outputFile, standardOutput } from "../output/OutputFile.ts"
import { progressBar } from "../output/ProgressBar.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { FRIENDLY, friendlyPairs, pairsOf, SELECTION } from "./SelectionFlags.ts"

const usage = (message: string) => new CommandError({ code: "usage", message })

const yes = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

/** What a file's name says of its format. */
const EXTENSIONS: Readonly<Record<string, ExportFormat>> = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  ndjson: "ndjson",
  jsonl: "ndjson",
  xlsx: "xlsx",
  parquet: "parquet",
}

/** `--to` names the file: a period is given by `--period`. */
const { per: _per, from: _from, to: _to, ...WITHOUT_DAYS } = SELECTION

const STDOUT = "-"

const formatOf = (to: string, given: ExportFormat | undefined): ExportFormat | CommandError => {
  if (given !== undefined) return given
  if (to === STDOUT) return "csv"
  const extension = /\.([^./\\]+)$/.exec(to)?.[1]?.toLowerCase()
  return (
    EXTENSIONS[extension ?? ""] ??
    usage(`The name ${to} says nothing of a format: pass --format, one of ${EXPORT_FORMATS.join(", ")}.`)
  )
}

interface ShapeFlags {
  readonly delimiter: Option.Option<string>
  readonly bom: boolean
  readonly safeForSpreadsheets: boolean
  readonly decimal: ReadonlyArray<string>
  readonly text: ReadonlyArray<string>
}

/** `total=12,2`: a column, its digits, and those of them behind the point. */
const decimalsOf = (flags: ReadonlyArray<string>): Readonly<Record<string, DecimalDigits>> | CommandError => {
  const found: Array<readonly [string, DecimalDigits]> = []
  for (const flag of flags) {
    const [, column, precision, scale] = /^(.+)=(\d{1,3}),(\d{1,3})$/s.exec(flag) ?? []
    const digits = column === undefined ? null : decimalDigits(Number(precision), Number(scale))
    if (column === undefined || digits === null) {
      return usage(
        `--decimal takes a column and its digits, such as total=12,2, at most 38, not ${JSON.stringify(flag)}.`,
      )
    }
    found.push([column, digits])
  }
  return Object.fromEntries(found)
}

const shapeOf = (chosen: ExportFormat, flags: ShapeFlags): ExportShape | CommandError => {
  const { bom, safeForSpreadsheets, text: texts } = flags
  const named = Option.getOrUndefined(flags.delimiter)
  const delimiter = named === "tab" ? "\t" : named
  const refused = delimiter === undefined ? null : refusedDelimiter(delimiter)
  if (refused !== null) return usage(`--delimiter: ${refused}`)
  const isSeparated = chosen === "csv" || chosen === "tsv"
  if (!isSeparated && (delimiter !== undefined || bom || safeForSpreadsheets)) {
    return usage("--delimiter, --bom and --safe-for-spreadsheets are for CSV and TSV.")
  }
  if (chosen !== "parquet" && flags.decimal.length + texts.length > 0) {
    return usage("--decimal and --text are for Parquet.")
  }
  const decimals = decimalsOf(flags.decimal)
  return decimals instanceof CommandError ? decimals : { delimiter, bom, safeForSpreadsheets, decimals, texts }
}

interface Written {
  rows: number
  bytes: number
}

/** Writes all rows, and tells how many have been taken. */
const write = async (rows: ExportedRows, encode: RowEncoder, output: Output, tell: (written: Written) => void) => {
  const written: Written = { rows: 0, bytes: 0 }
  const batches = async function* () {
    for await (const items of rows.batches) {
      written.rows += items.length
      yield items
    }
  }
  for await (const bytes of encode({ ...rows, batches: batches() })) {
    await output.write(bytes)
    written.bytes += bytes.length
    tell(written)
  }
  await output.finish()
  return written
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

export const exportCommand = Command.make(
  "export",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table or view, such as sources.orders")),
    to: Flag.String("to").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The file, which comes to exist, or is replaced, once it is whole; - for standard output"),
    ),
    format: Flag.Literals("format", EXPORT_FORMATS).pipe(
      Flag.withDescription("The file's format; default: by its name, and csv for standard output"),
      Flag.optional,
    ),
    live: yes("live", "Read page by page instead of from one snapshot"),
    delimiter: Flag.String("delimiter").pipe(
      Flag.withMetavar("CHAR"),
      Flag.withDescription("What separates the cells of CSV: a character, or tab; default: a comma"),
      Flag.optional,
    ),
    decimal: Flag.String("decimal").pipe(
      Flag.withMetavar("COLUMN=P,S"),
      Flag.withDescription("In Parquet, a column is a decimal of P digits, S of them behind the point; repeatable"),
      Flag.between(0, 1000),
    ),
    text: Flag.String("text").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription("In Parquet, a column is text, whatever it holds; repeatable"),
      Flag.between(0, 1000),
    ),
    bom: yes("bom", "Begin CSV with a byte order mark, by which Excel recognizes UTF-8"),
    safeForSpreadsheets: yes("safe-for-spreadsheets", "Put an apostrophe before texts that would run as formulas"),
    ...FRIENDLY,
    ...WITHOUT_DAYS,
    ...settingFlags("timeZone", "lockTimeout"),
  },
  (input) =>
    withCabinet(input, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(input.object)
        const chosen = formatOf(input.to, Option.getOrUndefined(input.format))
        if (typeof chosen !== "string") return yield* chosen
        const shape = shapeOf(chosen, input)
        if (shape instanceof CommandError) return yield* shape
        const encode = fileEncoder(chosen, name, shape)
        const shown = yield* format
        const isStdout = input.to === STDOUT
        if (isStdout && shown !== false) {
          return yield* usage(
            "Standard output takes either the rows or a JSON document: name a file, or leave --json out.",
          )
        }
        const params = [...(yield* friendlyPairs(input)), ...pairsOf({ ...input, to: undefined })]
        const bar = progressBar()
        const clock = yield* Clock.Clock
        const tell = ({ rows, bytes }: Written) =>
          bar.count("export", `${counted(rows, "row")}, ${megabytes(bytes)}`, clock.currentTimeMillisUnsafe())
        const { rows, bytes, isSnapshot } = yield* Effect.scoped(
          Effect.gen(function* () {
            const opened = yield* ExportRows.use((exports) => exports.open({ schema, name, params, live: input.live }))
            const output = isStdout ? standardOutput : yield* outputFile(input.to)
            const written = yield* Effect.tryPromise({ try: () => write(opened, encode, output, tell), catch: asError })
            return { ...written, isSnapshot: opened.isSnapshot }
          }),
        ).pipe(Effect.ensuring(Effect.sync(bar.clear)))
        if (isStdout) return
        const how = isSnapshot
          ? "as it was at one moment"
          : "page by page: a row that changed meanwhile is as it was when its page was read"
        yield* report(
          shown,
          { file: input.to, format: chosen, rows, bytes, snapshot: isSnapshot },
          () => `${counted(rows, "row")} of ${schema}.${name} exported into ${input.to} (${megabytes(bytes)}), ${how}.`,
        )
      }),
    ),
).pipe(Command.withDescription("Export rows of a table or view to a file"))
