/**
 * Logs what prevents events from being written: once while it lasts, however many writes fail, and once when events are
 * written again. Keeps the reason, so that clients can be warned before they send events.
 */
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { failureReport, failureWords, writeTrouble } from "../connection/FailureWords.ts"
import { sqlState } from "../connection/StoreFailure.ts"
import type { LastWriteFailure } from "../connection/WriteSession.ts"

export class WriteReports {
  readonly #trouble: LastWriteFailure
  /** The state that was logged; null while events are written. */
  #logged: string | null = null

  constructor(trouble: LastWriteFailure) {
    this.#trouble = trouble
  }

  /** Events have been written, or a session was opened that can write them. */
  get recovered(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#logged === null) return Effect.void
      this.#logged = null
      return Effect.logInfo("events are accepted again")
    })
  }

  failed(cause: Cause.Cause<SqlError.SqlError>): Effect.Effect<void> {
    const error = Cause.squash(cause)
    if (!SqlError.isSqlError(error)) return Effect.logWarning("accepting events was interrupted", cause)
    this.#trouble.words = writeTrouble(error) ?? this.#trouble.words
    // The message may name a file or process that differs each time.
    const state = failureWords(error) ?? sqlState(error) ?? error.reason._tag
    if (state === this.#logged) return Effect.void
    this.#logged = state
    return Effect.logWarning(`accepting events was interrupted: ${failureReport(error)}`)
  }
}
