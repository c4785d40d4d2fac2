/** `cabinet poll …`: URLs that are requested at an interval, and the outcomes. */
import { type Poll, POLL_FORMATS, type PollRun } from "@data-cabinet/core/poll/Poll"
import { pollJson, pollRunJson } from "@data-cabinet/core/poll/PollJson"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { parseInterval } from "@data-cabinet/core/poll/PollSchedule"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { counted } from "../output/Counted.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { confirmed, yes } from "./Confirm.ts"
import { headersFile, readHeaders } from "./HeadersFile.ts"
import { format, idArgument, settingFlags, withCabinet } from "./Root.ts"
import { requireUrl, urlFile } from "./UrlInput.ts"

const id = idArgument("ID", "The poll's number")
const outgoing = settingFlags("allowedNetworks")

const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
] as const

const interval = (seconds: number): string => {
  for (const [unit, letter] of UNITS) if (seconds % unit === 0) return `${seconds / unit}${letter}`
  return `${seconds}s`
}

const state = (poll: Poll): string => {
  if (poll.paused) return "paused"
  return poll.failures === 0 ? "working" : `failed ${counted(poll.failures, "time")}`
}

const text = (name: string, value: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar(value), Flag.withDescription(about))

const add = Command.make(
  "add",
  {
    source: sourceArgument(),
    url: Argument.String("URL").pipe(
      Argument.withDescription("A public http or https address; one that is a secret itself comes by --url-file"),
      Argument.optional,
    ),
    urlFile,
    every: text("every", "TIME", "How often: 30s, 15m, 2h, 1d").pipe(Flag.withDefault("15m")),
    format: Flag.Literals("format", POLL_FORMATS).pipe(
      Flag.withDescription("The answer's format; found out without it"),
      Flag.optional,
    ),
    pointer: text("pointer", "POINTER", "Where the list stands in a JSON answer, as /items").pipe(Flag.withDefault("")),
    key: text("key", "FIELD", "By which field an item is known again; by its content without it").pipe(Flag.optional),
    headersFile,
    ...outgoing,
  },
  (input) =>
    Effect.gen(function* () {
      if (Option.contains(input.urlFile, "-") && Option.contains(input.headersFile, "-") && !process.stdin.isTTY) {
        const message = "Standard input cannot hold both the URL and the headers: name a file for one of them."
        return yield* new CommandError({ code: "usage", message })
      }
      // Read before anything is opened: a person may be typing them.
      const url = yield* requireUrl(input.url, input.urlFile)
      const headers = yield* readHeaders(input.headersFile)
      return yield* withCabinet(input, () =>
        Effect.gen(function* () {
          const everySeconds = parseInterval(input.every)
          if (everySeconds === null) {
            const message = "--every is between 10s and 30d: a number and s, m, h or d."
            return yield* new CommandError({ code: "usage", message })
          }
          const sourceId = yield* sourceNamed(input.source)
          const poll = yield* Polls.use((polls) =>
            polls.add({
              sourceId,
              url,
              everySeconds,
              format: Option.getOrNull(input.format),
              pointer: input.pointer,
              keyField: Option.getOrNull(input.key),
              headers,
            }),
          )
          const words = `Poll ${poll.id} asks ${poll.url} every ${interval(poll.everySeconds)}. What its first run finds is history; see cabinet poll log ${poll.id}.`
          yield* report(yield* format, pollJson(poll), () => words)
        }),
      )
    }),
).pipe(Command.withDescription("Ask an address at an interval; new items become events of the source"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Polls.use((polls) => polls.list)
      yield* report(yield* format, all.map(pollJson), (style) =>
        columns(
          ["ID", "SOURCE", "EVERY", "STATE", "NEXT RUN", "HEADERS", "URL"],
          all.map((poll) => [
            String(poll.id),
            String(poll.sourceId),
            interval(poll.everySeconds),
            state(poll),
            poll.dueAt ?? "—",
            poll.headerNames.join(", ") || "none",
            poll.url,
          ]),
          { style, none: "No polls yet. Add one with: cabinet poll add SOURCE URL" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the polls; of their headers the names alone"))

const outcome = (run: PollRun): string =>
  run.outcome === "failed"
    ? (run.failure ?? "failed")
    : run.outcome === "unchanged"
      ? "nothing new (304)"
      : `${counted(run.items, "item")}, ${run.fresh} of them new`

const run = Command.make("run", { id, ...outgoing }, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const done = yield* Polls.use((polls) => polls.run(input.id))
      yield* report(yield* format, pollRunJson(done), () => outcome(done))
      if (done.outcome === "failed") {
        return yield* new CommandError({ code: "refused", message: `The poll failed: ${done.failure}` })
      }
    }),
  ),
).pipe(Command.withDescription("Run a poll now, and wait for what is new to be accepted"))

const log = Command.make(
  "log",
  {
    id,
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many runs at most"), Flag.withDefault(50)),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const runs = yield* Polls.use((polls) => polls.log(input.id, Math.max(1, Math.min(1000, input.limit))))
        yield* report(yield* format, runs.map(pollRunJson), (style) =>
          columns(
            ["AT", "TOOK", "STATUS", "CONNECTED TO", "NEXT RUN", "WHAT CAME OF IT"],
            runs.map((one) => [
              one.at,
              `${one.durationMs} ms`,
              one.status === null ? "—" : String(one.status),
              one.peer ?? "—",
              one.nextAt ?? "—",
              outcome(one),
            ]),
            { style, none: "It has not run yet." },
          ),
        )
      }),
    ),
).pipe(Command.withDescription("Show a poll's runs, newest first"))

const pause = Command.make("pause", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const poll = yield* Polls.use((polls) => polls.pause(input.id))
      yield* report(yield* format, pollJson(poll), () => `Poll ${poll.id} is paused.`)
    }),
  ),
).pipe(Command.withDescription("Stop asking, until it is resumed"))

const resume = Command.make("resume", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const poll = yield* Polls.use((polls) => polls.resume(input.id))
      yield* report(yield* format, pollJson(poll), () => `Poll ${poll.id} goes on: its next run is due ${poll.dueAt}.`)
    }),
  ),
).pipe(Command.withDescription("Ask again, at once and then at the interval"))

const remove = Command.make("remove", { id, yes }, (input) =>
  Effect.andThen(
    confirmed(input.yes, `Remove poll ${input.id} with its headers and its marks of what it has seen?`),
    withCabinet({}, () =>
      Effect.gen(function* () {
        yield* Polls.use((polls) => polls.remove(input.id))
        yield* report(
          yield* format,
          { id: input.id, removed: true },
          () => `Poll ${input.id} is removed. Its events stay.`,
        )
      }),
    ),
  ),
).pipe(Command.withDescription("Remove a poll for good; its events stay"))

export const pollCommand = Command.make("poll").pipe(
  Command.withDescription("Ask addresses at an interval, and take what is new"),
  Command.withSubcommands([add, list, run, log, pause, resume, remove]),
)
