/**
 * Notifications of other processes' loops, on a connection that listens like theirs. A process here is this adapter alone: a
 * whole cabinet would notify others by itself.
 */
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { layer as ownerClient } from "@data-cabinet/store-pg/connection/OwnerClient"
import { HINT_PAUSE } from "@data-cabinet/store-pg/connection/Hints"
import { CHANNEL, layer, layerSender } from "@data-cabinet/store-pg/delivery/PgDeliverySignal"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Latch, Layer, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"

const database = withDatabase()

const AFTERWARDS = "afterwards"

const wake = DeliverySignal.use((signal) => signal.wake)

/**
 * A process that accepts: it starts, runs `work` and ends. Its clock stands still, so neither its pause ends nor the time in
 * which its last notification has to be sent, however long the machine takes.
 */
const sender = <A, E>(work: Effect.Effect<A, E, DeliverySignal | PgClient.PgClient>) =>
  Effect.provide(work, layerSender.pipe(Layer.provideMerge(ownerClient({ url: database.url, maxConnections: 1 }))), {
    local: true,
  }).pipe(Effect.provide(TestClock.layer()))

/** The notifications that a listener receives while `run` runs, until another session sends END. */
const heardOf = (run: (next: Effect.Effect<string, unknown>) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const told = yield* sql.listen(CHANNEL)
    const next = Effect.map(Queue.take(told), ({ payload }) => payload)
    yield* run(next)
    yield* sql.notify(CHANNEL, "END")
    const heard: Array<string> = []
    while (heard.at(-1) !== "END") heard.push(yield* next)
    return heard
  }).pipe(Effect.scoped, Effect.provide(ownerClient({ url: database.url, maxConnections: 2 }), { local: true }))

it.live("a process that ends right after its commit has notified the others", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* heardOf(() => sender(wake)), ["", "END"])
  }),
)

it.live("commits during the pause after a notification are announced before the end, and once", () =>
  Effect.gen(function* () {
    const heard = yield* heardOf((next) =>
      sender(wake.pipe(Effect.andThen(next), Effect.andThen(wake), Effect.andThen(wake))),
    )
    assert.deepStrictEqual(heard, ["", "END"])
  }),
)

it.live("a notification in progress when the process ends is still sent", () =>
  Effect.gen(function* () {
    const heard = yield* heardOf(() =>
      sender(
        Effect.gen(function* () {
          const busy = yield* Scope.make()
          yield* Scope.provide(
            Effect.flatMap(PgClient.PgClient, (sql) => sql.reserve),
            busy,
          )
          yield* wake
          // By now it waits for the only connection, which becomes free after the process has begun to end.
          yield* Effect.yieldNow
          const free = () => void Effect.runPromise(Scope.close(busy, Exit.void))
          yield* Effect.sync(() => setTimeout(free, 50))
        }),
      ),
    )
    assert.deepStrictEqual(heard, ["", "END"])
  }),
)

it.live("a process with nothing to announce ends silently", () =>
  Effect.gen(function* () {
    const heard = yield* heardOf((next) =>
      sender(
        Effect.gen(function* () {
          yield* wake
          yield* next
          // Others may be notified before the notifying session gets its own response; after one more query on that
          // connection, nothing is pending.
          yield* PgClient.PgClient.use((sql) => sql`SELECT 1`)
        }),
      ),
    )
    assert.deepStrictEqual(heard, ["END"])
  }),
)

it.live("an author's flood of notifications wakes the loops no more often than an honest process would", () =>
  Effect.gen(function* () {
    const signal = yield* DeliverySignal
    // On the same session, so that it arrives after the flood.
    const afterwards = yield* (yield* PgClient.PgClient).listen(AFTERWARDS)
    const signalled = yield* signal.listen
    // What the listener starts with.
    yield* signalled
    let woken = 0
    const next = Latch.makeUnsafe(false)
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.tap(signalled, () => {
          woken++
          next.openUnsafe()
          return Effect.void
        }),
      ),
    )
    const { author } = yield* ensureRoles({ url: database.url })
    if (!author.there) return assert.fail(author.reason)
    const asAuthor = (statement: string) => Effect.promise(() => runSql(author.url, statement))
    yield* asAuthor(`DO $$ BEGIN
      FOR n IN 1..20000 LOOP PERFORM pg_notify('${CHANNEL}', repeat('x', 1000) || n); END LOOP;
    END $$`)
    // An honest process after it is heard, and nothing before it was taken for a signal.
    yield* sender(wake)
    yield* next.await
    assert.strictEqual(woken, 1)
    for (let pauses = 1; pauses <= 3; pauses++) {
      next.closeUnsafe()
      // Each in its own transaction, so that PostgreSQL sends each notification.
      yield* asAuthor(
        `DO $$ BEGIN FOR n IN 1..100 LOOP NOTIFY ${CHANNEL}; COMMIT; END LOOP; NOTIFY ${AFTERWARDS}; END $$`,
      )
      yield* Queue.take(afterwards)
      assert.strictEqual(woken, pauses)
      yield* TestClock.adjust(HINT_PAUSE)
      yield* next.await
      assert.strictEqual(woken, pauses + 1)
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(layer.pipe(Layer.provideMerge(ownerClient({ url: database.url, maxConnections: 2 }))), {
      local: true,
    }),
    Effect.provide(TestClock.layer()),
  ),
)
