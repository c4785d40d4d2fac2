/**
 * With `LOG_FORMAT=json` every line of a server's output is JSON, from start to end: also an error that ends it, a fault of
 * the program, and Node's own warnings.
 */
import { plainJson } from "./PlainText.ts"

/** Whether a call logs as JSON, by its arguments or else by the environment. */
export const logsJson = (args: ReadonlyArray<string>): boolean => {
  const at = args.findIndex((word) => word === "--log-format" || word.startsWith("--log-format="))
  const flag = at < 0 ? undefined : (args[at]!.split("=", 2)[1] ?? args[at + 1])
  return (flag ?? process.env["LOG_FORMAT"]) === "json"
}

/** A line of the log, without the line break. */
export const jsonLine = (level: "ERROR" | "FATAL" | "WARN", message: string, cause?: string): string =>
  plainJson(
    JSON.stringify({ time: new Date().toISOString(), level, message, ...(cause === undefined ? {} : { cause }) }),
  )

/** From here on, Node's own output to stderr becomes lines of JSON. A fault ends the process, as it does otherwise. */
export const writeNodesWordsAsJson = (): void => {
  process.removeAllListeners("warning")
  process.on(
    "warning",
    ({ name, message }) => void process.stderr.write(`${jsonLine("WARN", `${name}: ${message}`)}\n`),
  )
  process.on("uncaughtException", (fault: unknown) => {
    const cause = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)
    process.stderr.write(`${jsonLine("FATAL", "The program has failed", cause)}\n`, () => process.exit(1))
  })
}
