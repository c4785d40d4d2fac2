import { isUnavailable, orUnavailable, sqlState } from "@data-cabinet/store-pg/connection/StoreFailure"
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlError } from "effect/sql"

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
