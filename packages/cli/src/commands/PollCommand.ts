/** `cabinet poll …`: URLs that are requested at an interval, and the outcomes. */
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { type PollChange, pollRunShape, pollShape } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { intervalText } from "@data-cabinet/core/poll/PollSchedule"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { doubtLines } from "../output/DoubtLines.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { limitFlag } from "./LimitFlag.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { confirmed, yes } from "./Confirm.ts"
import { headersFile, readHeaders } from "./HeadersFile.ts"
import { format, idArgument, settingFlags, withCabinet } from "./Root.ts"
import { declaredFlags, givenSettings } from "./SettingFlags.ts"
import { readUrl, requireUrl, urlFile } from "./UrlInput.ts"
import { EXAMPLES } from "./Examples.ts"
import { state, reportTrial, outcome } from "./PollOutcome.ts"

const id = idArgument("ID", "The poll's number")
const outgoing = settingFlags("allowedNetworks")

const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription("Request the URL once and report what it would import, without importing"),
  Flag.withDefault(false),
)

const add = Command.make(
  "add",
  {
    source: sourceArgument(),
    url: Argument.String("URL").pipe(
      Argument.withDescription("A public http or https address; pass one that contains a secret with --url-file"),
      Argument.optional,
    ),
    urlFile,
    ...declaredFlags(POLL_SETTINGS),
    headersFile,
    dryRun,
    ...outgoing,
  },
  (input) =>
    Effect.gen(function* () {
      if (Option.contains(input.urlFile, "-") && Option.contains(input.headersFile, "-") && !process.stdin.isTTY) {
        const message = "Standard input cannot supply both the URL and the headers: use a file for one of them."
        return yield* new CommandError({ code: "usage", message })
      }
      // Read before anything is opened: a person may be typing them.
      const url = yield* requireUrl(input.url, input.urlFile)
      const headers = yield* readHeaders(input.headersFile)
      return yield* withCabinet(input, () =>
        Effect.gen(function* () {
          const sourceId = yield* sourceNamed(input.source)
          const settings = { sourceId, url, headers, ...givenSettings(POLL_SETTINGS, input) }
          if (input.dryRun) return yield* reportTrial(yield* Polls.use((polls) => polls.tryAdd(settings)))
          const poll = yield* Polls.use((polls) => polls.add(settings))
          const words = `Poll ${poll.id} requests ${poll.url} every ${intervalText(poll.everySeconds)}. Items of the first run are marked as history; see cabinet poll log ${poll.id}.`
          yield* report(yield* format, pollShape.json(poll), () => words)
        }),
      )
    }),
).pipe(Command.withDescription("Poll a URL at an interval; new items become events of the source"))

const set = Command.make(
  "set",
  {
    id,
    url: Flag.String("url").pipe(Flag.withMetavar("URL"), Flag.withDescription("New URL to request"), Flag.optional),
    urlFile,
    ...declaredFlags(POLL_SETTINGS),
    headersFile,
    dryRun,
    ...outgoing,
  },
  (input) =>
    Effect.gen(function* () {
      const url = Option.getOrUndefined(yield* readUrl(input.url, input.urlFile, "--url"))
      const headers = Option.isSome(input.headersFile) ? yield* readHeaders(input.headersFile) : undefined
      const change: PollChange = {
        ...(url !== undefined && { url }),
        ...givenSettings(POLL_SETTINGS, input),
        ...(headers !== undefined && { headers }),
      }
      yield* withCabinet(input, () =>
        Effect.gen(function* () {
          if (input.dryRun) return yield* reportTrial(yield* Polls.use((polls) => polls.tryChange(input.id, change)))
          const poll = yield* Polls.use((polls) => polls.change(input.id, change))
          const words = `Poll ${poll.id} requests ${poll.url} every ${intervalText(poll.everySeconds)}.`
          yield* report(yield* format, pollShape.json(poll), () => words)
        }),
      )
    }),
).pipe(Command.withDescription("Change a poll. A URL on another origin needs its headers again"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Polls.use(({ list: page }) => allItems(page))
      yield* report(yield* format, all.map(pollShape.json), (style) =>
        columns(
          ["ID", "SOURCE", "EVERY", "STATE", "NEXT RUN", "HEADERS", "URL"],
          all.map((poll) => [
            String(poll.id),
            String(poll.sourceId),
            intervalText(poll.everySeconds),
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
).pipe(Command.withDescription("List the polls; header values are not shown"))

const run = Command.make("run", { id, ...outgoing }, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const done = yield* Polls.use((polls) => polls.run(input.id))
      yield* report(yield* format, pollRunShape.json(done), () =>
        [outcome(done), ...doubtLines(done.doubts)].join("\n"),
      )
      if (done.outcome === "failed") {
        return yield* new CommandError({ code: "refused", message: `The poll failed: ${done.failure}` })
      }
    }),
  ),
).pipe(Command.withDescription("Run a poll now and wait until its new items are accepted"))

const log = Command.make(
  "log",
  {
    id,
    limit: limitFlag("runs", 1000, 50),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const runs = yield* Polls.use((polls) => polls.log(input.id, input.limit))
        yield* report(yield* format, runs.map(pollRunShape.json), (style) =>
          columns(
            ["AT", "DURATION", "STATUS", "CONNECTED TO", "NEXT RUN", "OUTCOME"],
            runs.map((one) => [
              one.at,
              `${one.durationMs} ms`,
              one.status === null ? "—" : String(one.status),
              one.peer ?? "—",
              one.nextAt ?? "—",
              [outcome(one), ...one.doubts.map(({ message }) => message.replace(/\.$/, ""))].join("; "),
            ]),
            { style, none: "The poll has not run yet." },
          ),
        )
      }),
    ),
).pipe(Command.withDescription("Show a poll's runs, newest first"))

const pause = Command.make("pause", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const poll = yield* Polls.use((polls) => polls.pause(input.id))
      yield* report(yield* format, pollShape.json(poll), () => `Poll ${poll.id} is paused.`)
    }),
  ),
).pipe(Command.withDescription("Pause a poll until it is resumed"))

const resume = Command.make("resume", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const poll = yield* Polls.use((polls) => polls.resume(input.id))
      yield* report(
        yield* format,
        pollShape.json(poll),
        () => `Poll ${poll.id} is resumed; its next run is due ${poll.dueAt}.`,
      )
    }),
  ),
).pipe(Command.withDescription("Resume a poll: run it now and then at its interval"))

const remove = Command.make("remove", { id, yes }, (input) =>
  Effect.andThen(
    confirmed(input.yes, `Remove poll ${input.id}, its headers and its record of items already seen?`),
    withCabinet({}, () =>
      Effect.gen(function* () {
        yield* Polls.use((polls) => polls.remove(input.id))
        yield* report(
          yield* format,
          { id: input.id, removed: true },
          () => `Poll ${input.id} was removed; its events remain.`,
        )
      }),
    ),
  ),
).pipe(Command.withDescription("Delete a poll permanently; its events remain"))

export const pollCommand = Command.make("poll").pipe(
  Command.withExamples(EXAMPLES.poll),
  Command.withDescription("Poll URLs at an interval and turn new items into events"),
  Command.withSubcommands([add, list, set, run, log, pause, resume, remove]),
)
