/**
 * Verifies stored events whose sender could not be verified on arrival, because the secret was missing or wrong, or
 * verification was not set up. The signed bytes are those of the original request, while it is kept. Only a successful
 * check changes an event: a signature that does not match the current secret proves nothing about the earlier one.
 *
 * Decision: docs/decisions/0071-verified-late.md
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { DeliverySignal } from "../delivery/DeliverySignal.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { noSuchEvent } from "../error/NoSuchEvent.ts"
import { originalPage } from "./OriginalSlice.ts"
import type { CursorWalk } from "../pagination/Cursor.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { Sources } from "../source/Sources.ts"
import { lateChecks, type LateOptions, OBSTACLE_WORDS } from "./LateChecks.ts"
import type { LatePage, LateVerdicts } from "../verification/LateVerdict.ts"
import { LateVerificationStore } from "./LateVerificationStore.ts"
import { SnsService } from "../verification/VerifySns.ts"

/** A refused late verification. */
export class LateVerificationError extends Schema.TaggedError<LateVerificationError>()("LateVerificationError", {
  code: Schema.Literals(["no_such_source", "no_such_event", "too_many_events", "bad_cursor", "not_checkable"]),
  message: Schema.String,
}) {}

/** The maximum number of events in one call. */
export const MAX_VERIFY_EVENTS = 1_000

/** Which events of a source to verify. */
export interface LateQuery extends LateOptions {
  readonly sourceId: number
  /** The most events that a page examines; default: 1,000. */
  readonly limit?: number
  readonly cursor?: string | undefined
}

type Fails = LateVerificationError | StoreUnavailable

export class LateVerification extends Context.Service<
  LateVerification,
  {
    /** Verdicts in the order of the events. A request's verdict holds for all of its events. */
    readonly events: (events: ReadonlyArray<number>, options: LateOptions) => Effect.Effect<LateVerdicts, Fails>
    /** One page of a source's events whose original requests are still stored, oldest first. */
    readonly source: (query: LateQuery) => Effect.Effect<LatePage, Fails>
    /** The verdicts of such a page; records and delivers nothing. */
    readonly trySource: (query: LateQuery) => Effect.Effect<LatePage, Fails>
  }
>()("@data-cabinet/core/event/LateVerification") {
  static readonly layer = Layer.effect(
    LateVerification,
    Effect.gen(function* () {
      const store = yield* LateVerificationStore
      const sources = yield* Sources
      const signal = yield* DeliverySignal
      const keys = yield* CursorKeys

      const { checkerOf, all } = lateChecks({ store, sources, signal, sns: yield* SnsService })
      const page = Effect.fnUntraced(function* (
        { sourceId, deliver, baseUrl, limit = MAX_VERIFY_EVENTS, cursor }: LateQuery,
        dryRun: boolean,
      ) {
        const existing = yield* sources.get(sourceId)
        if (Option.isNone(existing)) {
          const message = `Source ${sourceId} does not exist.`
          return yield* new LateVerificationError({ code: "no_such_source", message })
        }
        const { obstacle } = yield* checkerOf(sourceId, baseUrl)
        if (obstacle !== null) {
          const message = `The events of source ${sourceId} cannot be checked: ${OBSTACLE_WORDS[obstacle]}.`
          return yield* new LateVerificationError({ code: "not_checkable", message })
        }
        const walk: CursorWalk = { kind: "verification", scope: [sourceId, deliver], key: yield* keys.key }
        return yield* originalPage(
          { walk, cursor },
          BAD_CURSOR,
          (after) => store.slice({ sourceId, after, limit, undelivered: deliver }),
          (events) => all(events, { deliver, baseUrl, dryRun }),
        )
      })

      return LateVerification.of({
        events: Effect.fnUntraced(function* (given, options) {
          if (given.length > MAX_VERIFY_EVENTS) {
            const message = `At most ${MAX_VERIFY_EVENTS} events at a time; there were ${given.length}.`
            return yield* new LateVerificationError({ code: "too_many_events", message })
          }
          const ids = [...new Set(given)]
          const missing = yield* store.missing(ids)
          if (missing === null) return yield* all(ids, { ...options, dryRun: false })
          return yield* new LateVerificationError({ code: "no_such_event", message: noSuchEvent(missing) })
        }),
        source: (query) => page(query, false),
        trySource: (query) => page(query, true),
      })
    }),
  )
}

const BAD_CURSOR = Effect.suspend(() => {
  const message = "cursor must be a next_cursor of this source's verification, with the same deliver."
  return new LateVerificationError({ code: "bad_cursor", message })
})
