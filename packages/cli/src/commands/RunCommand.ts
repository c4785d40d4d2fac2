/**
 * Runs one call of `cabinet` to its exit code: 0 done, 1 refused with a sentence on stderr, 2 wrong usage, 130 cancelled at
 * a prompt. Nothing but a command's own report goes to stdout. The entry point decides about signals (bin).
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { jsonLine, logsJson } from "../output/JsonLines.ts"
import { plainLines } from "../output/PlainText.ts"
import { wantsColor } from "../output/Style.ts"
import { signalExitCode } from "../process/Signals.ts"
import { nearest } from "@data-cabinet/core/text/Nearest"
import { firstWord, withoutAliases } from "./Aliases.ts"
import { serveCommand, workerCommand } from "./ServeCommand.ts"
import { root, SHARED_FLAGS } from "./Root.ts"

const formatter = (stream: NodeJS.WriteStream) => CliOutput.defaultFormatter({ colors: wantsColor(stream) })

/** Requested help goes to stdout; an invalid call gets a sentence on stderr that points to the help. */
const presenterOf = (sayAll: (lines: ReadonlyArray<string>) => Effect.Effect<void>): CliOutput.Presenter => ({
  present: (event) => {
    switch (event._tag) {
      case "Help":
        if (event.reason === "Implicit" && event.commandPath.length > 1) {
          return Console.error(formatter(process.stderr).formatHelpDoc(event.helpDoc))
        }
        return Console.log(formatter(process.stdout).formatHelpDoc(event.helpDoc))
      case "InvalidInvocation":
        return sayAll([
          ...event.errors.map((error) => sentence(wrongCall(error))),
          `See: ${event.commandPath.join(" ")} --help`,
        ])
      case "Version":
        return Console.log(event.version)
    }
  },
})

const sayAllPlainly = (lines: ReadonlyArray<string>) => Console.error(plainLines(lines.join("\n")))
const sayAllAsJson = (lines: ReadonlyArray<string>) => Console.error(jsonLine("ERROR", lines.join(" ")))

/** The library's message, unless it mentions the library's own types or spans several lines. */
const wrongCall = (error: CliError.CliError): string => {
  if (error._tag === "UnrecognizedOption" && error.suggestions.length === 0) {
    const meant = nearest(error.option.replace(/^-+/, "").split("=", 1)[0]!, SHARED_FLAGS)
    return meant === null ? error.message : `${error.message}. Did you mean --${meant}?`
  }
  // A range has its own words.
  if (error._tag === "InvalidValue" && /^(?!--).*(finite number|integer)/.test(error.expected)) {
    const name = error.kind === "flag" ? `--${error.option}` : error.option
    const expected = error.kind === "flag" ? "an integer" : "a positive integer"
    return `${name} must be ${expected}, not ${JSON.stringify(error.value)}`
  }
  return error.message.replace(/\.?\s*\n\s*Did you mean this\?\s+(.*)$/s, ". Did you mean $1?")
}

const settled = (isJson: boolean) =>
  Layer.mergeAll(
    NodeServices.layer,
    CliOutput.layerPresenter(presenterOf(isJson ? sayAllAsJson : sayAllPlainly)),
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  )

/** With an initial capital and a final full stop. */
const sentence = (text: string): string => {
  const trimmed = text.trim()
  const end = /[.!?;:]$/.test(trimmed) ? "" : "."
  return trimmed.slice(0, 1).toUpperCase() + trimmed.slice(1) + end
}

const isUsage = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && "_tag" in error && error._tag === "CommandError"
    ? error.code === "usage"
    : false

const exitCode = (exit: Exit.Exit<void, unknown>, args: ReadonlyArray<string>): number => {
  if (Exit.isSuccess(exit)) return 0
  // The library turns Ctrl-C at a prompt into an interruption.
  if (Cause.hasInterruptsOnly(exit.cause)) return signalExitCode("SIGINT")
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (CliError.isCliError(error)) return args.length === 0 ? 0 : 2
  if (error instanceof Error) {
    // A message about a parameter begins with its name, which has no capital.
    const words = "param" in error ? error.message : sentence(error.message)
    process.stderr.write(`${speaksJson(args) ? jsonLine("ERROR", words) : plainLines(words)}\n`)
    return isUsage(error) ? 2 : 1
  }
  const cause = Cause.pretty(exit.cause)
  const fault = speaksJson(args) ? jsonLine("FATAL", "Internal error", cause) : `Internal error:\n${plainLines(cause)}`
  process.stderr.write(`${fault}\n`)
  return 1
}

/** Many users first type `help`, `help COMMAND` or `version`. */
const withoutWords = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (args[0] === "help") return [...args.slice(1), "--help"]
  return args[0] === "version" && args.length === 1 ? ["--version"] : args
}

/** The long-running processes by themselves: their start does not wait for all the other commands to be loaded. */
const servers = root.pipe(Command.withSubcommands([serveCommand, workerCommand]))

const allCommands = Effect.promise(() => import("./Cabinet.ts"))

const isServer = (args: ReadonlyArray<string>): boolean =>
  ["serve", "worker"].includes(firstWord(args) ?? "") && !args.some((word) => word.startsWith("--completions"))

/** Whether every line that this call writes is JSON: a server's whose log is. */
export const speaksJson = (args: ReadonlyArray<string>): boolean => isServer(args) && logsJson(args)

const run = (args: ReadonlyArray<string>, version: string) => {
  if (isServer(args)) return Command.runWith(servers, { version })(args)
  return Effect.flatMap(allCommands, ({ bench, cabinet }) =>
    Command.runWith(firstWord(args) === "bench" ? bench : cabinet, { version })(args),
  )
}

/**
 * Never fails; errors have been printed by then. Interrupting it shuts a server down gracefully, and nothing else ends one.
 */
export const runCommand = (args: ReadonlyArray<string>, version: string): Effect.Effect<number> =>
  run(withoutAliases(withoutWords(args)), version).pipe(
    Effect.provide(settled(speaksJson(args))),
    Effect.exit,
    Effect.map((exit) => exitCode(exit, args)),
  )
