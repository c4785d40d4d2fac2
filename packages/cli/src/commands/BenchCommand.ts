/**
 * `cabinet bench`: runs the measurements of `test/bench`, which exist in a clone but not in the published package. It
 * starts its own servers and PostgreSQL, and touches no cabinet.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { noCabinet, root } from "./Root.ts"

const PROGRAM = fileURLToPath(new URL("../../../../test/bench/main.ts", import.meta.url))

const scale = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

export const benchCommand = Command.make(
  "bench",
  {
    figures: Argument.String("figure").pipe(
      Argument.withDescription("Only these measurements; docs/performance.md lists their names"),
      Argument.variadic(),
    ),
    quick: scale("quick", "Smaller data and shorter rounds: a few minutes"),
    long: scale("long", "All measurements, including the one-hour memory test and ten million events"),
    markdown: Flag.String("markdown").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Also write the table to this file"),
      Flag.optional,
    ),
  },
  ({ figures, quick, long, markdown }) =>
    Effect.gen(function* () {
      yield* noCabinet("The measurements use their own databases")
      const { json } = yield* root
      if (!existsSync(PROGRAM)) {
        return yield* new CommandError({
          code: "refused",
          message: "The measurements are not part of the published package: run cabinet bench in a clone.",
        })
      }
      const words = [
        ...figures,
        ...(quick ? ["--quick"] : []),
        ...(long ? ["--long"] : []),
        ...(json ? ["--json"] : []),
        ...Option.match(markdown, { onNone: () => [], onSome: (file) => ["--markdown", file] }),
      ]
      const code = yield* run(["--conditions=source", PROGRAM, ...words])
      if (code === 2) return yield* new CommandError({ code: "usage", message: "See: cabinet bench --help" })
      if (code !== 0) return yield* new CommandError({ code: "refused", message: "Not everything could be measured." })
    }),
).pipe(Command.withDescription("Benchmark this service against similar ones (requires a clone of the repository)"))

/** Runs it in the foreground; when this process is interrupted, it receives a signal, stops and cleans up. */
const run = (words: ReadonlyArray<string>) =>
  Effect.callback<number>((resume) => {
    const child = spawn(process.execPath, words, { stdio: "inherit" })
    child.once("exit", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.callback<void>((ended) => {
      if (child.exitCode !== null || child.signalCode !== null) return ended(Effect.void)
      child.once("exit", () => ended(Effect.void))
      child.kill("SIGTERM")
    })
  })
