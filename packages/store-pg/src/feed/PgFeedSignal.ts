/**
 * Carries the signal to the followers of other processes by NOTIFY after the commit, twenty times a second at most. A
 * process listens only while it follows, on one connection of the pool; the follower makes up for a lost notification,
 * because it also checks by itself.
 */
import { FeedSignal } from "@data-cabinet/core/feed/FeedSignal"
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer } from "effect"
import { HINT_PAUSE, listenForHints } from "../connection/Hints.ts"

export const CHANNEL = "cabinet_feed"
const PAYLOAD = ""

/** A waiting program hears of an event within this time plus one read. Hints are not heard more often. */
const PAUSE = HINT_PAUSE

export const layer = Layer.effect(
  FeedSignal,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const here = yield* FeedSignal
    /** Open while other processes are still to be notified. */
    const untold = Latch.makeUnsafe(false)
    const tell = Effect.suspend(() => {
      untold.closeUnsafe()
      return Effect.ignore(sql.notify(CHANNEL, PAYLOAD))
    })
    yield* untold.await.pipe(
      Effect.andThen(tell),
      Effect.andThen(Effect.sleep(PAUSE)),
      Effect.forever,
      Effect.forkScoped,
    )
    const hear = listenForHints({
      channel: CHANNEL,
      isHint: (payload) => payload === PAYLOAD,
      work: () => Effect.sync(here.wake),
    }).pipe(Effect.provideService(PgClient.PgClient, sql))
    return FeedSignal.of({
      listen: Effect.tap(here.listen, Effect.forkScoped(hear)),
      wake: () => {
        here.wake()
        untold.openUnsafe()
      },
    })
  }),
).pipe(Layer.provide(FeedSignal.layer))
