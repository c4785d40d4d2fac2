/** Passes log entries to the program that opened the cabinet. */
import { plainOutput } from "../output/PlainText.ts"
import { Cause, Layer, Logger, References } from "effect"

/** A logger such as `console` or pino. */
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

/** The entry's annotations, including the id in the response to a failed request. */
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

/** The logger of a cabinet. By default warnings and errors go to the console. */
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
