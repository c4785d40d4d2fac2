/**
 * Sessions that are kept between reads: who uses them, and when they return to the pool. On PostgreSQL, with the pool's own
 * sessions.
 */
import { OwnCall } from "@data-cabinet/core/runtime/AbortableCall"
import { KeptSessions } from "@data-cabinet/store-pg/connection/KeptSessions"
import { sessionGroup } from "@data-cabinet/store-pg/connection/SessionGroup"
import * as SessionPool from "@data-cabinet/store-pg/connection/SessionPool"
import { short } from "@data-cabinet/store-pg/connection/SessionSettings"
import { Wires } from "@data-cabinet/store-pg/connection/Wires"
import { Clock, Context, Effect, Exit, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })

const caller = () => new OwnCall(Number.POSITIVE_INFINITY, Context.empty())
const call = caller()

let scope: Scope.Closeable
let clock: TestClock.TestClock
let kept: KeptSessions
beforeEach(async () => {
  scope = Scope.makeUnsafe()
  const group = sessionGroup(database.url, "kept")
  const { url } = database
  const open = Effect.gen(function* () {
    const pool = yield* SessionPool.lentSessions({
      url,
      maxConnections: 2,
      applicationName: group.applicationName,
      settings: short(5_000),
      wires: new Wires(group),
    })
    clock = yield* TestClock.make()
    return yield* Effect.provideService(KeptSessions.make(pool), Clock.Clock, clock)
  })
  kept = await Effect.runPromise(Effect.provideService(open, Scope.Scope, scope))
})
afterEach(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const acquired = async () => kept.tryAcquire() ?? Result.getOrThrow(await kept.acquire(call))
const lost = (closed: { once: (event: "close", then: () => void) => unknown }) =>
  new Promise<void>((resolve) => closed.once("close", () => resolve()))
const end = (pid: number) => database.run(`SELECT pg_terminate_backend(${pid})`)

describe("KeptSessions", () => {
  it("lends the most recently used session, and never one to two callers", async () => {
    const [one, two] = [await acquired(), await acquired()]
    assert.notEqual(one.session.processId, two.session.processId)
    assert.isUndefined(kept.tryAcquire())
    kept.release(one)
    kept.release(two)
    assert.strictEqual(kept.tryAcquire(), two)
    assert.strictEqual(kept.tryAcquire(), one)
    assert.isUndefined(kept.tryAcquire())
  })

  it("lends a released session to a waiting caller, and not to one that has left", async () => {
    const [one, two] = [await acquired(), await acquired()]
    const leaves = caller()
    const [left, waits] = [kept.acquire(leaves), kept.acquire(call)]
    leaves.abort()
    assert.isTrue(Result.isFailure(await left))
    kept.release(two)
    assert.strictEqual(Result.getOrThrow(await waits), two)
    kept.release(one)
    assert.strictEqual(kept.tryAcquire(), one)
  })

  it("keeps no session whose connection is lost, whether idle or in use, and opens another", async () => {
    const [one, two] = [await acquired(), await acquired()]
    kept.release(one)
    const ended = Promise.all([lost(one.wire.wire), lost(two.wire.wire)])
    await end(one.session.processId)
    await end(two.session.processId)
    await ended
    kept.release(two)
    assert.isUndefined(kept.tryAcquire())
    const next = [await acquired(), await acquired()]
    assert.notInclude(next, one)
    assert.notInclude(next, two)
  })

  it("stops listening to a connection once its session is back in the pool", async () => {
    const listening: Array<number> = []
    for (let n = 0; n < 3; n++) {
      const one = await acquired()
      listening.push(one.wire.wire.listenerCount("close"))
      one.giveBack()
      await new Promise(setImmediate)
    }
    assert.deepStrictEqual(listening, [listening[0]!, listening[0]!, listening[0]!])
  })

  it("returns a session to the pool to be closed, if requested", async () => {
    const one = await acquired()
    await Effect.runPromise(kept.invalidate(one.session))
    const closed = lost(one.wire.wire)
    one.giveBack()
    await closed
    assert.isUndefined(kept.tryAcquire())
  })

  it("returns only sessions unused for ten seconds", async () => {
    const [one, two] = [await acquired(), await acquired()]
    kept.release(one)
    await Effect.runPromise(clock.adjust(6_000))
    kept.release(two)
    await Effect.runPromise(clock.adjust(5_000))
    assert.strictEqual(kept.tryAcquire(), two)
    assert.isUndefined(kept.tryAcquire())
    assert.strictEqual((await acquired()).session, one.session)
  })

  it("reports why no session can be opened", async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    assert.isTrue(Result.isFailure(await kept.acquire(call)))
  })
})
