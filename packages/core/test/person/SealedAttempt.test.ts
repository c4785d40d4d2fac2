/** A sign-in in progress, kept by the browser: it is accepted only unchanged and in time. */
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { ATTEMPT_SECONDS, openAttempt, sealAttempt } from "@data-cabinet/core/person/SealedAttempt"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const KEY = new CursorKey(Buffer.alloc(32, 7))
const NOW = Date.parse("2026-11-26T10:00:00.900Z")
const ATTEMPT = { state: "s", nonce: "n", verifier: "v", to: "/console/sources" }

it.prop(
  "openAttempt returns what sealAttempt sealed, which the browser cannot read",
  [Schema.Struct({ state: Schema.String, nonce: Schema.String, verifier: Schema.String, to: Schema.String })],
  ([attempt]) => {
    const well = Object.fromEntries(Object.entries(attempt).map(([name, text]) => [name, text.toWellFormed()]))
    const given = { ...ATTEMPT, ...well }
    const sealed = sealAttempt(KEY, given, NOW)
    assert.match(sealed, /^[\w-]+$/)
    assert.deepStrictEqual(openAttempt(KEY, sealed, NOW), given)
    assert.notStrictEqual(sealAttempt(KEY, given, NOW), sealed)
  },
  { arbitrary: { runs: 100 } },
)

it("openAttempt accepts a sign-in within ten minutes", () => {
  const sealed = sealAttempt(KEY, ATTEMPT, NOW)
  const end = Math.floor(NOW / 1000) * 1000 + ATTEMPT_SECONDS * 1000
  assert.deepStrictEqual(openAttempt(KEY, sealed, end - 1), ATTEMPT)
  assert.isNull(openAttempt(KEY, sealed, end))
})

it("openAttempt refuses an altered or truncated text, and one of another cabinet", () => {
  const bytes = Buffer.from(sealAttempt(KEY, ATTEMPT, NOW), "base64url")
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    assert.isNull(openAttempt(KEY, changed.toString("base64url"), NOW), `byte ${at}`)
    assert.isNull(openAttempt(KEY, bytes.subarray(0, at).toString("base64url"), NOW), `${at} bytes`)
  }
  assert.isNull(openAttempt(new CursorKey(Buffer.alloc(32, 8)), bytes.toString("base64url"), NOW))
  assert.isNull(openAttempt(KEY, "", NOW))
})
