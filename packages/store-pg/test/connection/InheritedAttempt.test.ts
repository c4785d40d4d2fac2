/** A caller is not given the failure of an attempt to connect that was begun before it came. */
import { sessionGroup } from "@data-cabinet/store-pg/connection/SessionGroup"
import * as SessionPool from "@data-cabinet/store-pg/connection/SessionPool"
import * as SessionSettings from "@data-cabinet/store-pg/connection/SessionSettings"
import { sqlMessage } from "@data-cabinet/store-pg/connection/StoreFailure"
import { PgClient } from "@effect/sql-pg"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { Duplex } from "node:stream"
import { assert, describe, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })

/** Accepts what is written, and never responds. */
const silent = () => new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })

const ONE = "SELECT 1 AS one"

/** The ways to work in a pool, each once. */
const WAYS = {
  statement: (options: SessionPool.SessionPoolOptions) =>
    Effect.map(SessionPool.lentSessions(options), ({ use }) => Effect.asVoid(use((session) => session.query(ONE)))),
  session: (options: SessionPool.SessionPoolOptions) =>
    Effect.map(Layer.build(SessionPool.layer(options)), (context) => {
      const { reserve } = Context.get(context, PgClient.PgClient)
      return Effect.scoped(Effect.flatMap(reserve, (own) => Effect.asVoid(own.executeRaw(ONE, []))))
    }),
}

type Work = Effect.Effect<void, SqlError.SqlError>

/** Runs with a pool of one session whose first attempt to connect gets no response, and returns the number of attempts. */
const withSilence = (way: keyof typeof WAYS, run: (work: Work, begun: Effect.Effect<void>) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const { stream, applicationName } = sessionGroup(database.url, "data-cabinet silent")
    const begun = yield* Deferred.make<void>()
    let attempts = 0
    const work = yield* WAYS[way]({
      url: database.url,
      maxConnections: 1,
      connectTimeout: "3 seconds",
      settings: SessionSettings.owner,
      applicationName,
      stream: () => {
        if (attempts++ > 0) return stream()
        Deferred.doneUnsafe(begun, Effect.void)
        return silent()
      },
    })
    yield* run(work, Deferred.await(begun))
    return attempts
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)

describe.each(["statement", "session"] as const)("a caller of the pool (%s)", (way) => {
  it("gets a session although an attempt that was begun for another has timed out", async () => {
    const attempts = await withSilence(way, (work, begun) =>
      Effect.gen(function* () {
        const first = yield* Effect.forkChild(work)
        yield* begun
        yield* Fiber.interrupt(first)
        yield* TestClock.adjust(2_000)
        const second = yield* Effect.forkChild(work, { startImmediately: true })
        yield* TestClock.adjust(1_000)
        yield* Effect.orDie(Fiber.join(second))
      }),
    )
    assert.strictEqual(attempts, 2)
  })

  it("gets the failure of its own attempt", async () => {
    const attempts = await withSilence(way, (work, begun) =>
      Effect.gen(function* () {
        const own = yield* Effect.forkChild(work)
        yield* begun
        yield* TestClock.adjust(3_000)
        assert.match(sqlMessage(yield* Effect.orDie(Effect.flip(Fiber.join(own)))), /timed out/)
      }),
    )
    assert.strictEqual(attempts, 1)
  })
})
