/** A browser is recognized by a text that only its cabinet can sign. */
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { readBrowser, rememberBrowser } from "@data-cabinet/core/person/KnownBrowser"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const KEY = new CursorKey(Buffer.alloc(32, 1))

it.prop(
  "readBrowser reads what rememberBrowser signed, which has a new id each time",
  [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))],
  ([personId]) => {
    const [one, other] = [rememberBrowser(KEY, personId), rememberBrowser(KEY, personId)]
    assert.strictEqual(readBrowser(KEY, one)!.personId, personId)
    assert.notStrictEqual(readBrowser(KEY, one)!.id, readBrowser(KEY, other)!.id)
  },
)

it("readBrowser refuses a text of another cabinet, and one with any character changed", () => {
  const text = rememberBrowser(KEY, 7)
  assert.isNull(readBrowser(new CursorKey(Buffer.alloc(32, 2)), text))
  // The last character of 32 bytes in base64url has two unused bits.
  for (let at = 0; at < text.length - 1; at++) {
    const changed = text[at] === "A" ? "B" : "A"
    assert.isNull(readBrowser(KEY, text.slice(0, at) + changed + text.slice(at + 1)), `${at}`)
  }
  for (const junk of ["", ".", `7.${"A".repeat(22)}.`, `${text}x`, `1e3${text.slice(1)}`]) {
    assert.isNull(readBrowser(KEY, junk), junk)
  }
})
