/**
 * The writers of events. Requests that arrive while a write is in flight form the next batch; the first request is
 * written at once. Each writer has its own session. A request whose session is lost has an unknown outcome; one that
 * was never sent is known not to be saved.
 *
 * Decision: docs/decisions/0007-a-second-batch-beside-the-first.md
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { AcceptRequest, Appended } from "@data-cabinet/core/event/EventLog"
import { memoryFull, type MemoryShares, SMALL_BYTES } from "@data-cabinet/core/limit/MemoryBudget"
import { Cause, Effect, Latch, Result, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { retryIfFull } from "../connection/SessionLeases.ts"
import { connectionLossAsError, unavailable } from "../connection/StoreFailure.ts"
import type { WriteSession, WriteSessions } from "../connection/WriteSession.ts"
import { connectFailureOf, failAll, late, loseAll, refusalOf } from "./AppendOutcome.ts"
import type { BatchWriter } from "./BatchWriter.ts"
import type { BlockedBatches } from "./BlockedBatches.ts"
import { openWriter } from "./OpenWriter.ts"
import { Pending, type PendingBatch, PendingRequests } from "./PendingRequests.ts"
import type { WriteReports } from "./WriteReports.ts"

/**
 * Maximum number of batches in flight. A small second batch costs more than it gains, because most of a batch's cost does
 * not depend on the number of its events. So a second one starts only if it is full, if it is not small compared with the
 * first, or if the first is held up.
 */
export const WRITERS = 2

/** After this time a batch counts as held up: by a lock, or by a slow disk. */
const SLOW_BATCH_MILLIS = 50

/** The longest time that a sender waits for a response. */
const ANSWER_TIMEOUT_MILLIS = 9_000

/** How long a stopping service waits for the batch in flight. */
const LAST_BATCH_TIMEOUT = "1 second"

/** The pause between two attempts to open a session, while the database refuses it. */
const REOPEN_PAUSE = "1 second"

const HOLDS_NOTHING = (): void => {}

interface Parts {
  readonly sessions: WriteSessions["Service"]
  readonly batches: BatchWriter
  readonly blocked: BlockedBatches
  readonly wheel: TimerWheel
  readonly memory: MemoryShares
  readonly reports: WriteReports
  /**
   * Whether the sessions are opened at once, before other pools have used up what the server allows, and kept. A process
   * that may never accept an event opens them with the first one.
   */
  readonly isKept: boolean
}

export class EventWriter {
  readonly #parts: Parts
  /** Filled by `append`; emptied by the writers, by deadlines and by failures. */
  readonly #pending = new PendingRequests()
  /** Open when a writer may have something to write. Closed by the writers, opened by whatever may change that. */
  readonly #work = Latch.makeUnsafe(false)
  /** Number of requests being written: changed by `#inFlightWhile` alone. */
  #inFlight = 0
  /** Open when none is; watched by `#stop` alone, which closes it first. */
  readonly #written = Latch.makeUnsafe(false)
  /** Number of writers that have a session. */
  #sessions = 0
  /** Set by `#stop`. */
  #isStopping = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Queues a request. Its result arrives by the deadline at the latest. */
  append(request: AcceptRequest, deadline?: Deadline, abandoned?: AbortSignal): Promise<Appended> {
    const { wheel } = this.#parts
    if (this.#isStopping) return Promise.resolve(Result.fail(unavailable("The service is stopping.")))
    const release = this.#hold(request)
    if (release === undefined) return Promise.resolve(Result.fail(memoryFull()))
    return new Promise((resolve, reject) => {
      const one = new Pending({
        request,
        deadline: deadline ?? wheel.now() + ANSWER_TIMEOUT_MILLIS,
        expire: this.#expire,
        release,
        resolve,
        reject,
      })
      one.stopWatch = wheel.watch(one)
      abandoned?.addEventListener("abort", () => one.expire(), { once: true })
      this.#pending.add(one)
      this.#openIfMayWrite()
    })
  }

  #hold({ memory: bytes = 0, sourceId, original }: AcceptRequest) {
    return bytes <= SMALL_BYTES ? HOLDS_NOTHING : this.#parts.memory.hold(sourceId, original?.ip ?? null, bytes)
  }

  readonly #expire = (one: Pending): void => {
    const isWithdrawn = this.#pending.remove(one)
    if (isWithdrawn) one.end(late(true))
    else one.giveUp(late(false))
  }

  /** Writes until the scope closes; what is still queued then is not saved. */
  get start(): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const { blocked } = this.#parts
      yield* Effect.forkScoped(Effect.forever(blocked.look))
      yield* Effect.forkScoped(Effect.forever(blocked.trustAgain))
      for (let n = 0; n < WRITERS; n++) yield* Effect.forkScoped(Effect.forever(this.#writeOnNewSession))
      // Runs before the writers are interrupted.
      yield* Effect.addFinalizer(() => this.#stop)
    })
  }

  get #stop(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#isStopping = true
      yield* this.#failQueued()
      if (this.#inFlight > 0) {
        this.#written.closeUnsafe()
        yield* Effect.timeoutOption(this.#written.await, LAST_BATCH_TIMEOUT)
      }
      yield* this.#parts.sessions.cut
    })
  }

  get #mayWrite(): boolean {
    if (this.#isStopping || this.#pending.isEmpty) return false
    return this.#inFlight === 0 || this.#parts.blocked.areAny || this.#pending.mayGoBeside(this.#inFlight)
  }

  #openIfMayWrite(): void {
    if (this.#mayWrite) this.#work.openUnsafe()
  }

  /** An idle writer is woken when its session ends. */
  readonly #wake = (): void => void this.#work.openUnsafe()

  /** One generator for all waits (see BatchWriter). */
  readonly #untilMayWrite = Effect.fnUntraced({ self: this }, function* (isClosed: () => boolean) {
    while (!this.#mayWrite && !isClosed()) {
      this.#work.closeUnsafe()
      yield* this.#work.await
    }
  })

  /** Opens a session, and writes on it until it is lost. */
  get #writeOnNewSession(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { isKept, reports, sessions } = this.#parts
      if (!isKept) yield* this.#untilMayWrite(() => false)
      let isOpen = false
      yield* retryIfFull(sessions.share)(connectionLossAsError(openWriter(this.#parts, this.#wake))).pipe(
        // None of these was sent, so their outcome is known. A writer with a session writes them.
        Effect.tapCause((cause) => (this.#sessions > 0 ? Effect.void : this.#failQueued(connectFailureOf(cause)))),
        Effect.tap(() => (sessions.trouble.words === null ? reports.recovered : Effect.void)),
        Effect.flatMap((session) => {
          isOpen = true
          this.#sessions++
          return Effect.ensuring(
            this.#writeOn(session),
            Effect.sync(() => void this.#sessions--),
          )
        }),
        Effect.scoped,
        Effect.catchCause((cause) => this.#interrupted(cause)),
      )
      // Requests that come meanwhile wait for the next attempt.
      if (!isOpen && !this.#isStopping) yield* Effect.sleep(REOPEN_PAUSE)
    })
  }

  /** Writes batch after batch on one connection; returns when the connection is lost. */
  #writeOn(session: WriteSession): Effect.Effect<void, SqlError.SqlError> {
    return Effect.gen({ self: this }, function* () {
      while (true) {
        session.waits(null)
        yield* this.#untilMayWrite(session.isClosed)
        if (session.isClosed()) return
        const batch = this.#pending.take()
        yield* this.#inFlightWhile(batch, this.#parts.batches.write(session, batch)).pipe(
          Effect.onExit((exit) => {
            if (exit._tag === "Success") return Effect.void
            const reason = refusalOf(exit.cause)
            return session.waitsFor() === "session" && reason === undefined ? loseAll(batch) : failAll(batch, reason)
          }),
        )
      }
    })
  }

  /** Counts the requests of a batch as in flight while it runs, and admits a second batch once it takes too long. */
  #inFlightWhile<E>(batch: PendingBatch, writing: Effect.Effect<void, E>): Effect.Effect<void, E> {
    return Effect.suspend(() => {
      this.#inFlight += batch.length
      let noLongerSlow = () => {}
      const slow = setTimeout(() => {
        noLongerSlow = this.#parts.blocked.add()
        this.#openIfMayWrite()
      }, SLOW_BATCH_MILLIS)
      const over = Effect.sync(() => {
        clearTimeout(slow)
        noLongerSlow()
        this.#inFlight -= batch.length
        if (this.#inFlight === 0) this.#written.openUnsafe()
        this.#openIfMayWrite()
      })
      return Effect.ensuring(writing, over)
    })
  }

  #interrupted(cause: Cause.Cause<SqlError.SqlError>): Effect.Effect<void> {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    if (this.#isStopping) return Effect.void
    return this.#parts.reports.failed(cause)
  }

  #failQueued(reason?: string): Effect.Effect<void> {
    return Effect.suspend(() => failAll(this.#pending.takeAll(), reason))
  }
}
