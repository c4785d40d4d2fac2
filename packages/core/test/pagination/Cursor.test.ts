import { createHmac } from "node:crypto"
import { decodeCursor, encodeCursor, MAX_CURSOR_LENGTH, type CursorWalk } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const secret = Buffer.from("the secret of a cabinet, 32 byte")
const key = new CursorKey(secret)
const walk: CursorWalk = { kind: "rows", scope: ["public", "orders", { sort: "total" }], key }
const Text = Schema.NullOr(Schema.String)

describe("encodeCursor", () => {
  it.prop(
    "restores a position in the list it was issued for",
    [Schema.Array(Text), Schema.Array(Schema.String)],
    ([position, scope]) => {
      const wellFormed = position.map((value) => value?.toWellFormed() ?? null)
      const own = { kind: "rows", scope, key } as const
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

  it("refuses a cursor with any one character changed", () => {
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A"
      assert.isUndefined(decodeCursor(walk, cursor.slice(0, at) + other + cursor.slice(at + 1)), `at ${at}`)
    }
  })

  it("refuses another spelling of the same bytes, and a text that is too long", () => {
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

  it("accepts a cursor of the maximum length, and refuses a longer one, even if signed", () => {
    const [longest, longer] = [8_977, 8_978].map((length) => ["x".repeat(length)])
    assert.lengthOf(encodeCursor(walk, longest!), MAX_CURSOR_LENGTH)
    assert.deepStrictEqual(decodeCursor(walk, encodeCursor(walk, longest!)), longest)
    assert.isUndefined(decodeCursor(walk, encodeCursor(walk, longer!)))
  })

  it("refuses a cursor with any one bit flipped", () => {
    const bytes = Buffer.from(cursor, "base64url")
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const turned = Buffer.from(bytes)
      turned[bit >> 3]! ^= 1 << (bit & 7)
      assert.isUndefined(decodeCursor(walk, turned.toString("base64url")), `bit ${bit}`)
    }
  })

  it("refuses a cursor of another cabinet, and one forged without the key", () => {
    const other = new CursorKey(Buffer.from("the secret of another, 32 bytes!"))
    assert.isUndefined(decodeCursor(walk, encodeCursor({ ...walk, key: other }, ["10.50", null, "7"])))
    const text = JSON.stringify([["10.50", null, "7"]])
    const covered = JSON.stringify([2, walk.kind, walk.scope, text])
    const made = (by: Uint8Array, positions = text, signed = covered) =>
      Buffer.concat([
        Buffer.of(2),
        createHmac("sha256", by).update(signed).digest().subarray(0, 16),
        Buffer.from(positions),
      ]).toString("base64url")
    assert.strictEqual(made(secret), cursor)
    const nothing = JSON.stringify([2, walk.kind, walk.scope, ""])
    for (const forged of [
      made(secret, "", nothing),
      made(Buffer.alloc(0)),
      made(Buffer.alloc(32)),
      made(secret, text, text),
    ]) {
      assert.isUndefined(decodeCursor(walk, forged))
    }
    // Room for positions in several databases, which this version does not know.
    const two = JSON.stringify([["1"], ["2"]])
    assert.isUndefined(decodeCursor(walk, made(secret, two, JSON.stringify([2, walk.kind, walk.scope, two]))))
  })

  it("refuses cursors of the previous version, which had a checksum without a key", () => {
    assert.isUndefined(
      decodeCursor(walk, Buffer.concat([Buffer.of(1), Buffer.alloc(12), Buffer.from("[]")]).toString("base64url")),
    )
  })

  it.prop("refuses any text that was not issued", [Schema.String], ([text]) => {
    assert.isUndefined(decodeCursor(walk, text))
    assert.isUndefined(decodeCursor(walk, Buffer.from(`\u0002${text}`).toString("base64url")))
  })
})

describe("CursorKey.sign", () => {
  it.prop("is HMAC-SHA-256", [Schema.String, Schema.Uint8Array.check(Schema.isMaxLength(64))], ([text, bytes]) => {
    const message = text.toWellFormed()
    assert.deepStrictEqual(new CursorKey(bytes).sign(message), createHmac("sha256", bytes).update(message).digest())
  })
})
