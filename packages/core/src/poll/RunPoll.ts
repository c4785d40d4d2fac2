/**
 * One run of a poll: requests the URL, reads the response, filters out the items seen before, stages the rest, and
 * accepts them. A response is accepted completely or not at all: if one item is not an object, the run fails and
 * nothing of it is stored. A fault in the program also counts as a failed run: the poll slows down and doctor reports
 * it, instead of retrying at once and for ever.
 */
import { background } from "../runtime/Background.ts"
import { Clock, Context, Effect, Layer, Option, type Scope } from "effect"
import { faultInWords, faultName } from "../error/Fault.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { AcceptStaged } from "../file/AcceptStaged.ts"
import { type LeaseLost, ImportStore } from "../file/ImportStore.ts"
import type { PollRun } from "./Poll.ts"
import { type ClaimedPoll, PollStore, type RunResult } from "./PollStore.ts"
import { PollFetch, type PollResponse, UNREADABLE_HEADERS } from "./PollFetch.ts"
import { PollStaging } from "./PollStaging.ts"
import { nextSeconds } from "./PollSchedule.ts"
import { ArchiveReader, type ArchiveReading } from "../file/ReadableFile.ts"

/** Covers the request, reading and staging. */
const RUN_TIMEOUT = "10 minutes"

const NO_HEADERS: PollResponse = {
  status: null,
  peer: null,
  failure: UNREADABLE_HEADERS,
  body: null,
  contentType: null,
  etag: null,
  lastModified: null,
  retryAfter: null,
}

export class RunPoll extends Context.Service<
  RunPoll,
  {
    /** None if the poll was removed, or claimed by another process, in the meantime. */
    readonly run: (poll: ClaimedPoll) => Effect.Effect<Option.Option<PollRun>, StoreUnavailable>
  }
>()("@data-cabinet/core/poll/RunPoll") {
  static readonly layer = Layer.effect(
    RunPoll,
    Effect.gen(function* () {
      const runner = new PollRunner({
        store: yield* PollStore,
        fetch: (yield* PollFetch).fetch,
        imports: yield* ImportStore,
        archives: yield* ArchiveReader,
        accept: yield* AcceptStaged,
      })
      return RunPoll.of({ run: (poll) => Effect.scoped(runner.run(poll)) })
    }),
  )
}

interface Ports {
  readonly store: PollStore["Service"]
  readonly fetch: PollFetch["Service"]["fetch"]
  readonly imports: ImportStore["Service"]
  readonly archives: ArchiveReading
  readonly accept: AcceptStaged["Service"]
}

class PollRunner {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Holds the poll's lease while it is fetched and staged, then accepts the new items. */
  run(poll: ClaimedPoll): Effect.Effect<Option.Option<PollRun>, StoreUnavailable, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const { store } = this.#ports
      yield* background("poll lease renewal", "20 seconds", store.renew(poll), { quiet: true })
      const staging = new PollStaging(poll, this.#ports)
      const settled = yield* this.#settle(poll, staging)
      if (Option.isNone(settled))
        yield* staging.giveUp("the poll was removed or run by another process in the meantime")
      else if (settled.value.importId !== null) yield* this.#accept(settled.value.importId)
      return settled
    })
  }

  #settle(poll: ClaimedPoll, staging: PollStaging) {
    return Effect.gen({ self: this }, function* () {
      const started = yield* Clock.currentTimeMillis
      const ended = yield* Effect.catchDefect(this.#attempt(poll, staging), (fault) =>
        Effect.as(
          Effect.logError(`a run of poll ${poll.id} failed with an internal error: ${faultName(fault)}`),
          faulty(poll, fault),
        ),
      )
      if (ended.outcome === "failed") yield* staging.giveUp("the poll's response could not be read to the end")
      const durationMs = (yield* Clock.currentTimeMillis) - started
      return yield* this.#ports.store.settle(poll, { ...ended, durationMs })
    }).pipe(
      Effect.catchTag("LeaseLost", () => Effect.succeedNone),
      Effect.onError(() => staging.giveUp("the poll was interrupted")),
    )
  }

  /** Fetches, and stages the new items of the response. */
  #attempt(poll: ClaimedPoll, staging: PollStaging): Effect.Effect<Ended, LeaseLost | StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { url, headers, etag, lastModified } = poll
      const response = headers === null ? NO_HEADERS : yield* this.#ports.fetch({ url, headers, etag, lastModified })
      const { status, peer, body } = response
      const common = { status, peer, bytes: body?.length ?? 0, items: 0, doubts: [], fresh: null, etag, lastModified }
      const failed = (failure: string): Ended => ({
        ...common,
        outcome: "failed",
        failure,
        nextSeconds: nextSeconds(poll.everySeconds, poll.failures + 1, response.retryAfter),
      })
      const good = { failure: null, nextSeconds: nextSeconds(poll.everySeconds, 0, null) }
      if (response.failure !== null) return failed(response.failure)
      if (body === null) return { ...common, ...good, outcome: "unchanged" } satisfies Ended
      const marks = { etag: response.etag, lastModified: response.lastModified }
      return yield* Effect.scoped(staging.stage(body, response.contentType)).pipe(
        Effect.map((staged): Ended => ({ ...common, ...good, ...staged, ...marks, outcome: "read" })),
        Effect.catchTag("FileError", (error) => Effect.succeed(failed(error.message))),
        Effect.timeoutOrElse({
          duration: RUN_TIMEOUT,
          orElse: () => Effect.succeed(failed(`the response was not read within ${RUN_TIMEOUT}`)),
        }),
      )
    })
  }

  #accept(importId: number): Effect.Effect<void, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { imports, accept } = this.#ports
      const claimed = yield* imports.claim(importId)
      if (Option.isNone(claimed)) return
      yield* accept.run(claimed.value).pipe(
        Effect.onInterrupt(() => Effect.ignore(imports.release(claimed.value, null))),
        Effect.catchTag("LeaseLost", () => Effect.void),
      )
    })
  }
}

const faulty = (poll: ClaimedPoll, fault: unknown): Ended => ({
  outcome: "failed",
  failure: `internal error: ${faultInWords(fault)}`,
  status: null,
  peer: null,
  bytes: 0,
  items: 0,
  doubts: [],
  fresh: null,
  etag: poll.etag,
  lastModified: poll.lastModified,
  nextSeconds: nextSeconds(poll.everySeconds, poll.failures + 1, null),
})

type Ended = Omit<RunResult, "durationMs">
