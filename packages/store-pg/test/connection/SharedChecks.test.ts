/** What the callers of one session are told when a check refuses it. */
import { SessionUnfit } from "@data-cabinet/store-pg/connection/SessionCheck"
import { SharedChecks } from "@data-cabinet/store-pg/connection/SharedChecks"
import type { PgConnection } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"

const failing = (cause: Error) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "query" }) })
const refused = failing(new SessionUnfit("a session's role is wrong"))
const lost = failing(new Error("write EPIPE"))

const session = () => ({}) as PgConnection.PgConnection

it.effect("a check that learns that its session has ended waits for the refusal of another, and fails with it", () =>
  Effect.gen(function* () {
    const checks = new SharedChecks()
    const shared = session()
    const gate = yield* Deferred.make<never, SqlError.SqlError>()
    const start = { startImmediately: true }
    const first = yield* Effect.forkChild(Effect.flip(checks.run(shared, Deferred.await(gate))), start)
    const second = yield* Effect.forkChild(Effect.flip(checks.run(shared, Effect.fail(lost))), start)
    assert.isUndefined(second.pollUnsafe())
    assert.strictEqual(yield* Effect.flip(checks.run(session(), Effect.fail(lost))), lost)
    yield* Deferred.fail(gate, refused)
    assert.strictEqual(yield* Fiber.join(first), refused)
    assert.strictEqual(yield* Fiber.join(second), refused)
    assert.strictEqual(yield* Effect.flip(checks.run(shared, Effect.fail(lost))), refused)
  }),
)

it.effect("a lost connection is reported as such once no other check of its session can refuse it", () =>
  Effect.gen(function* () {
    const checks = new SharedChecks()
    const shared = session()
    const start = { startImmediately: true }
    const first = yield* Effect.forkChild(checks.run(shared, Effect.never), start)
    const second = yield* Effect.forkChild(Effect.flip(checks.run(shared, Effect.fail(lost))), start)
    yield* Fiber.interrupt(first)
    assert.strictEqual(yield* Fiber.join(second), lost)
    assert.strictEqual(yield* checks.run(shared, Effect.succeed(1)), 1)
  }),
)
