/** The log, on stderr: one line per entry, formatted for people on a terminal and as JSON for machines. */
import { Cause, Layer, Logger, type LogLevel, References } from "effect"
import { plainJson, plainLines, plainText } from "./PlainText.ts"
import { styleFor } from "./Style.ts"

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "none"
  /** Null: pretty on a terminal, else JSON. */
  readonly format: "pretty" | "json" | null
}

const LEVELS = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const satisfies Record<
  LogOptions["level"],
  LogLevel.LogLevel
>

interface Entry {
  readonly at: Date
  readonly level: string
  readonly message: string
  readonly notes: Readonly<Record<string, unknown>>
  readonly cause: string | null
}

/** A message is one value or several; errors among them are printed with their causes, other values as JSON. */
const entry = ({ message, logLevel, date, cause, fiber }: Logger.Options<unknown>): Entry => {
  const parts = Array.isArray(message) ? message : [message]
  const errors = parts.filter((part) => part instanceof Error || Cause.isCause(part))
  const shown = [...errors.map((error) => (Cause.isCause(error) ? error : Cause.fail(error))), cause]
  return {
    at: date,
    level: logLevel.toUpperCase(),
    message: parts
      .filter((part) => !errors.includes(part))
      .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
      .join(" "),
    notes: fiber.getRef(References.CurrentLogAnnotations),
    cause:
      shown
        .filter((one) => one.reasons.length > 0)
        .map((one) => Cause.pretty(one))
        .join("\n") || null,
  }
}

const json = ({ at, level, message, notes, cause }: Entry): string =>
  plainJson(JSON.stringify({ time: at.toISOString(), level, message, ...notes, ...(cause === null ? {} : { cause }) }))

const pretty = ({ at, level, message, notes, cause }: Entry): string => {
  const style = styleFor(process.stderr)
  const paint = level === "ERROR" || level === "FATAL" ? style.red : level === "WARN" ? style.yellow : style.cyan
  const extra = Object.entries(notes).map(([name, value]) => style.dim(`${name}=${plainText(String(value))}`))
  const line = [style.dim(at.toTimeString().slice(0, 8)), paint(level.padEnd(5)), plainText(message), ...extra].join(
    " ",
  )
  return cause === null ? line : `${line}\n${plainLines(cause).replace(/^/gm, "    ")}`
}

/** Whether the log is JSON; by default it is unless stderr is a terminal. */
export const isJson = (format: LogOptions["format"]): boolean =>
  (format ?? (process.stderr.isTTY ? "pretty" : "json")) === "json"

export const layer = ({ level, format }: LogOptions) => {
  const write = isJson(format) ? json : pretty
  const logger = Logger.make((options) => void process.stderr.write(`${write(entry(options))}\n`))
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, LEVELS[level]))
}
