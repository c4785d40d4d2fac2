/**
 * Sends the events of one held address, page by page, and saves how far it has come: at most every 50 ms, at the end of a
 * page, and before it waits. It acts only while its own clock says that the lease holds, so a process that was stopped for
 * longer sends nothing before it has asked.
 */
import { PAGE_EVENTS, QUICK_PAGE_EVENTS } from "@data-cabinet/core/delivery/OrderedQueue"
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { Cause, Effect } from "effect"
import { LAST_SAVE, type Parts, TURN_MILLIS, Turn } from "./OrderedTurn.ts"

/**
 * Whether the next page may be a long one: this one was full, and a long one will end within a turn. An address that is
 * paused gets what its page still has.
 */
export const isQuickPage = (events: number, millis: number): boolean =>
  events >= PAGE_EVENTS && millis * QUICK_PAGE_EVENTS <= TURN_MILLIS * events

export class OrderedSender {
  readonly #parts: Parts
  #closing = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** From now on an attempt is the last of its address. */
  close(): void {
    this.#closing = true
  }

  /** Serves a claimed address up to the end of the feed, or until others should have a turn. Never fails. */
  serve(held: HeldFollower, slot: { since: number }): Effect.Effect<void> {
    const isClosing = () => this.#closing
    return Effect.clockWith((clock) => {
      const turn = new Turn(held, this.#parts, slot, clock)
      const started = turn.now
      const work = Effect.gen({ self: this }, function* () {
        let isQuick = false
        for (;;) {
          const page = yield* this.#parts.queue.page(held, isQuick)
          // Paused, or lost: a claim that is only given up changes nothing then.
          if (page === null) return yield* Effect.asVoid(turn.save({ is: "release", restMillis: 0 }))
          const began = turn.now
          const end = yield* turn.page(page, isClosing)
          if (end.is === "over") return
          const isTurnOver = isClosing() || turn.now - started > TURN_MILLIS
          if (end.is === "rest" || isTurnOver) {
            const restMillis = end.is === "rest" ? end.millis : 0
            return yield* Effect.asVoid(turn.save({ is: "release", restMillis }))
          }
          if (!(yield* turn.save({ is: "keep" }))) return
          isQuick = isQuickPage(page.items.length, turn.now - began)
        }
      })
      const saved = Effect.ignore(Effect.timeoutOption(turn.save({ is: "release", restMillis: 0 }), LAST_SAVE))
      return work.pipe(
        Effect.onInterrupt(() => saved),
        Effect.catchCause((cause) => {
          if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
          // An unavailable database is reported by everything that needs it; the lease ends by itself.
          const level = Cause.hasDies(cause) ? "Warn" : "Debug"
          return Effect.logWithLevel(level)(`Deliveries in order to address ${held.name} stopped.`, cause)
        }),
      )
    })
  }
}
