/**
 * Tracks slow batches, and looks up which sessions block them. If a foreign session holds the lock of a body, accepts
 * only try these locks for a while, instead of waiting.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Latch } from "effect"
import { connectionLossAsError } from "../connection/StoreFailure.ts"
import type { BodyLockMode } from "./AcceptRepeats.ts"
import { blockers } from "./Blockers.ts"

/** Milliseconds between a batch becoming slow and the search for blocking sessions. */
const LOOK_UP_AFTER_MILLIS = 400

/** How long accepts only try the locks of bodies after a foreign session was seen to hold one. */
const BODY_LOCK_PAUSE = "1 minute"

export class BlockedBatches {
  /** Process ids of the sessions that write events: each session adds and removes its own. */
  readonly writers = new Set<number>()
  readonly #tellBlockers: ReturnType<typeof blockers>
  /** Number of slow batches. A count, because the end of one says nothing about another. */
  #slow = 0
  /** Opened by a slow batch, closed by `look`. */
  readonly #isSlow = Latch.makeUnsafe(false)
  /** Written by `look` and `trustAgain`, read when a batch is sent. */
  #bodyLocks: BodyLockMode = "wait"
  /** Opened by `look`, closed by `trustAgain`. */
  readonly #strangerSeen = Latch.makeUnsafe(false)

  constructor(sql: PgClient.PgClient) {
    this.#tellBlockers = blockers(sql)
  }

  get areAny(): boolean {
    return this.#slow > 0
  }

  get bodyLocks(): BodyLockMode {
    return this.#bodyLocks
  }

  /** A batch has become slow; returns the function to call when it ends. */
  add(): () => void {
    this.#slow++
    this.#isSlow.openUnsafe()
    return () => void this.#slow--
  }

  /** Runs before a writer gives up on a lock, because afterwards its holder is unknown. */
  get look(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#isSlow.closeUnsafe()
      yield* this.#isSlow.await
      do {
        yield* Effect.sleep(LOOK_UP_AFTER_MILLIS)
        if (!this.areAny) break
        const find = connectionLossAsError(this.#tellBlockers(this.writers))
        const isStranger = yield* Effect.orElseSucceed(find, () => false)
        if (!isStranger) continue
        this.#bodyLocks = "try"
        this.#strangerSeen.openUnsafe()
      } while (this.areAny)
    })
  }

  /** Waits for the locks of bodies again, some time after a foreign session was seen. */
  get trustAgain(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#strangerSeen.await
      yield* Effect.sleep(BODY_LOCK_PAUSE)
      this.#strangerSeen.closeUnsafe()
      this.#bodyLocks = "wait"
    })
  }
}
