import { failureWords, storageWords, writeTrouble, addStopReason } from "@data-cabinet/store-pg/connection/FailureWords"
import { readErrorOf } from "@data-cabinet/store-pg/row/ReadErrorOf"
import { awaiting, isUnavailable, orUnavailable, sqlState } from "@data-cabinet/store-pg/connection/StoreFailure"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"

const lost = (cause: Error) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message: "lost", operation: "query" }) })

it.each(["EPIPE", "ECONNRESET", "ENOENT"])(
  "isUnavailable is true if a socket fails with %s, which is not a SQLSTATE",
  (code) => {
    const error = lost(Object.assign(new Error(`write ${code}`), { code, errno: -32, syscall: "write" }))
    assert.isUndefined(sqlState(error))
    assert.isTrue(isUnavailable(error))
  },
)

it("isUnavailable is true for a server that is shutting down, or has not begun an epoch", () => {
  for (const code of ["57P01", "57PE0"]) {
    const error = lost(Object.assign(new Error("away"), { code }))
    assert.strictEqual(sqlState(error), code)
    assert.isTrue(isUnavailable(error))
  }
})

it.effect("orUnavailable says that a statement blocked by another may be retried", () =>
  Effect.gen(function* () {
    for (const code of ["55P03", "40P01", "40001"]) {
      const refused = yield* Effect.flip(orUnavailable(Effect.fail(lost(Object.assign(new Error("busy"), { code })))))
      assert.include(refused, { _tag: "StoreUnavailable", outcomeUnknown: false })
      assert.include(refused.message, "busy")
    }
    const fault = yield* Effect.exit(orUnavailable(Effect.fail(lost(Object.assign(new Error("x"), { code: "42601" })))))
    assert.isTrue(Exit.hasDies(fault))
  }),
)

it.effect("orUnavailable blames at its deadline what was waited for", () =>
  Effect.gen(function* () {
    const bucket = awaiting("The bucket", Effect.never)
    for (const [work, message] of [
      [Effect.never, "The database did not respond in time."],
      [bucket, "The bucket did not respond in time."],
      [orUnavailable(bucket), "The bucket did not respond in time."],
      [Effect.andThen(awaiting("The bucket", Effect.void), Effect.never), "The database did not respond in time."],
    ] as const) {
      const late = yield* Effect.forkChild(Effect.flip(orUnavailable(work)))
      yield* TestClock.adjust("8 seconds")
      assert.strictEqual((yield* Fiber.join(late)).message, message)
    }
  }),
)

const DAMAGED = "its data are damaged: restore a backup"
const NOT_OURS = "its data directory has the wrong owner or permissions"

it.effect.each([
  ["42501", "md.c", NOT_OURS],
  ["42501", "slru.c", NOT_OURS],
  ["58P01", "md.c", DAMAGED],
  ["XX001", "bufmgr.c", DAMAGED],
])("orUnavailable names what prevents a running server from using its files: %s in %s", ([code, file, words]) =>
  Effect.gen(function* () {
    const error = lost(Object.assign(new Error('could not open file "base/5/1"'), { code, file }))
    const refused = yield* Effect.flip(orUnavailable(Effect.fail(error)))
    assert.strictEqual(refused.message, `The database cannot be used: ${words}.`)
    assert.include(readErrorOf(error), { code: "reader_off", message: refused.message })
    assert.strictEqual(writeTrouble(error), words)
    // One unreadable table must not fail the events of the others.
    assert.isFalse(isUnavailable(error))
  }),
)

it.each([
  ["42501", "aclchk.c"],
  ["XX001", "pl_exec.c"],
])("storageWords ignores %s from %s, which a statement can cause", (code, file) => {
  assert.isUndefined(storageWords(lost(Object.assign(new Error("refused"), { code, file }))))
})

it("failureWords explains a server of our own that is away, and no other", () => {
  const refused = (address: object) => lost(Object.assign(new Error("connect"), { code: "ECONNREFUSED", ...address }))
  const socket = refused({ address: "/tmp/of-this-test/.s.PGSQL.5432" })
  const forget = [
    addStopReason({ socketDir: "/tmp/of-this-test", port: 5432 }, () => "its disk is full"),
    addStopReason({ socketDir: "", port: 9 }, () => "its port is in use by another program"),
  ]
  assert.strictEqual(failureWords(socket), "its disk is full")
  assert.strictEqual(failureWords(refused({ address: "127.0.0.1", port: 9 })), "its port is in use by another program")
  assert.isUndefined(failureWords(refused({ address: "/tmp/elsewhere/.s.PGSQL.5432" })))
  for (const each of forget) each()
  assert.isUndefined(failureWords(socket))
})
