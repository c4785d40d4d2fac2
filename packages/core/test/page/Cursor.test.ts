import { hash } from "node:crypto"
import { decodeCursor, encodeCursor, type CursorWalk } from "@data-cabinet/core/page/Cursor"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const walk: CursorWalk = { kind: "rows", scope: ["public", "orders", { sort: "total" }] }
const Text = Schema.NullOr(Schema.String)

describe("encodeCursor", () => {
  it.prop(
    "gives a place back in the walk it was issued for",
    [Schema.Array(Text), Schema.Array(Schema.String)],
    ([position, scope]) => {
      const wellFormed = position.map((value) => value?.toWellFormed() ?? null)
      const own = { kind: "rows", scope } as const
      assert.deepStrictEqual(decodeCursor(own, encodeCursor(own, wellFormed)), wellFormed)
      assert.match(encodeCursor(own, wellFormed), /^[A-Za-z0-9_-]+$/)
    },
    { arbitrary: { runs: 200, size: 20 } },
  )
})

describe("decodeCursor", () => {
  const cursor = encodeCursor(walk, ["10.50", null, "7"])

  it("refuses a cursor of another kind, object or selection", () => {
    assert.isDefined(decodeCursor(walk, cursor))
    assert.isUndefined(decodeCursor({ ...walk, kind: "feed" }, cursor))
    assert.isUndefined(decodeCursor({ ...walk, scope: ["public", "orders", { sort: "id" }] }, cursor))
    assert.isUndefined(decodeCursor({ ...walk, scope: [] }, cursor))
  })

  it("refuses a cursor of which any one character was changed", () => {
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A"
      assert.isUndefined(decodeCursor(walk, cursor.slice(0, at) + other + cursor.slice(at + 1)), `at ${at}`)
    }
  })

  it("refuses the same bytes spelt otherwise, and what is too long", () => {
    for (const other of [
      cursor + "=",
      cursor + "!",
      ` ${cursor}`,
      cursor + "\n",
      cursor.slice(0, -1),
      "",
      "A".repeat(20_000),
    ]) {
      assert.isUndefined(decodeCursor(walk, other), JSON.stringify(other.slice(0, 90)))
    }
  })

  it("refuses what somebody else put under a checksum", () => {
    for (const text of ["", "[", "{}", "7", "[1]"]) {
      const covered = JSON.stringify([1, walk.kind, walk.scope, text])
      const bytes = Buffer.concat([Buffer.of(1), hash("sha256", covered, "buffer").subarray(0, 12), Buffer.from(text)])
      assert.isUndefined(decodeCursor(walk, bytes.toString("base64url")), text)
    }
  })

  it.prop("refuses any text that was not issued", [Schema.String], ([text]) => {
    assert.isUndefined(decodeCursor(walk, text))
    assert.isUndefined(decodeCursor(walk, Buffer.from(`\u0001${text}`).toString("base64url")))
  })
})
