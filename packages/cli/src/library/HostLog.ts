/** Passes log entries to the program that opened the cabinet, which knows where they belong. */
import { plainOutput } from "../output/PlainText.ts"
import { Cause, Layer, Logger, References } from "effect"

/** The shape of `console`, pino and most others. */
export interface ProgramLog {
  /** Details for debugging; without it such entries are not created. */
  readonly debug?: ((message: string) => void) | undefined
  /** Normal operation; without it such entries are not created. */
  readonly info?: ((message: string) => void) | undefined
  /** Failures that are retried. */
  readonly warn: (message: string) => void
  /** Faults, with everything known about them. */
  readonly error: (message: string) => void
}

/** Includes the id that the response to a failed request has. */
const notes = (fiber: Logger.Options<unknown>["fiber"]): string => {
  const all = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  return all.length === 0 ? "" : ` (${all.map(([name, value]) => `${name} ${String(value)}`).join(", ")})`
}

const text = ({ message, cause, fiber }: Logger.Options<unknown>): string => {
  const parts = Array.isArray(message) ? message : [message]
  const words = parts.map((part) => {
    if (Cause.isCause(part)) return Cause.pretty(part)
    if (part instanceof Error) return part.stack ?? part.message
    return typeof part === "string" ? part : JSON.stringify(part)
  })
  words[0] = `${words[0] ?? ""}${notes(fiber)}`
  return [...words, ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])].join("\n")
}

/** Without a log: warnings and errors to the console. */
export const layer = (given: ProgramLog | undefined) => {
  const log: ProgramLog = given ?? {
    warn: (message) => console.warn(plainOutput(message)),
    error: (message) => console.error(plainOutput(message)),
  }
  const logger = Logger.make((options) => {
    const level = options.logLevel
    if (level === "Error" || level === "Fatal") log.error(text(options))
    else if (level === "Warn") log.warn(text(options))
    else if (level === "Info") log.info?.(text(options))
    else log.debug?.(text(options))
  })
  const least = log.debug !== undefined ? "Debug" : log.info !== undefined ? "Info" : "Warn"
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, least))
}
