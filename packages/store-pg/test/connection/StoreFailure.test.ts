import { isAway, sqlState } from "@data-cabinet/store-pg/connection/StoreFailure"
import { assert, it } from "@effect/vitest"
import { SqlError } from "effect/sql"

const lost = (cause: Error) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message: "lost", operation: "query" }) })

it.each(["EPIPE", "ECONNRESET", "ENOENT"])(
  "isAway is true of a socket that fails with %s, which is no SQLSTATE",
  (code) => {
    const error = lost(Object.assign(new Error(`write ${code}`), { code, errno: -32, syscall: "write" }))
    assert.isUndefined(sqlState(error))
    assert.isTrue(isAway(error))
  },
)

it("isAway is true of a server that shuts down, and of one that has begun no epoch yet", () => {
  for (const code of ["57P01", "57PE0"]) {
    const error = lost(Object.assign(new Error("away"), { code }))
    assert.strictEqual(sqlState(error), code)
    assert.isTrue(isAway(error))
  }
})
