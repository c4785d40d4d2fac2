import { createHash } from "node:crypto"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import {
  altchaChallenge,
  CHALLENGE_SECONDS,
  checkAltcha,
  CLOCK_SKEW_SECONDS,
} from "@data-cabinet/core/proof/AltchaProof"
import { solvedAltcha as solved } from "./solvedAltcha.ts"
import { Random } from "../intake/Random.ts"

const KEY = "a key of one source"
const NOW = Date.UTC(2026, 10, 29)
const RANDOM = createHash("sha256").update("fixed").digest()

describe("checkAltcha", () => {
  const challenge = altchaChallenge(KEY, NOW, RANDOM)
  const proof = solved(challenge)
  const end = NOW + (CHALLENGE_SECONDS + CLOCK_SKEW_SECONDS) * 1000

  it("returns the challenge's nonce and end when the solution is valid", () => {
    expect(checkAltcha(proof, KEY, NOW)).toEqual(Result.succeed({ id: challenge.parameters.nonce, until: end }))
  })

  it("accepts a challenge of a server whose clock is ahead, and refuses it as expired past the skew", () => {
    expect(Result.isSuccess(checkAltcha(proof, KEY, NOW - CLOCK_SKEW_SECONDS * 1000))).toBe(true)
    expect(Result.isSuccess(checkAltcha(proof, KEY, end - 1))).toBe(true)
    expect(checkAltcha(proof, KEY, end)).toEqual(Result.fail("expired"))
  })

  it("refuses the key of another source, a later end, an easier prefix and an unsolved challenge", () => {
    const unsolved = { challenge, solution: { counter: 0, derivedKey: "0000" } }
    for (const [text, key] of [
      [proof, "another key"],
      [solved(challenge, { expiresAt: challenge.parameters.expiresAt + 1 }), KEY],
      [solved(challenge, { keyPrefix: "" }), KEY],
      [Buffer.from(JSON.stringify(unsolved)).toString("base64"), KEY],
    ] as const) {
      expect(checkAltcha(text, key, NOW)).toEqual(Result.fail("bad"))
    }
  })

  it("refuses any other text, and never takes a damaged proof for another", () => {
    const random = new Random(1)
    for (const json of ["", "null", "1", "[]", "{}", '{"challenge":{"parameters":null}}', "{".repeat(3_000)]) {
      expect(checkAltcha(Buffer.from(json).toString("base64"), KEY, NOW)).toEqual(Result.fail("bad"))
    }
    const bytes = Buffer.from(proof, "base64")
    const valid = checkAltcha(proof, KEY, NOW)
    for (let round = 0; round < 500; round++) {
      const damaged = Buffer.from(bytes)
      damaged[random.below(bytes.length)]! ^= 1 << random.below(7)
      // Members that are not read may be damaged; what is read cannot, so no damage gives a second use.
      expect([valid, Result.fail("bad")]).toContainEqual(checkAltcha(damaged.toString("base64"), KEY, NOW))
    }
  })
})
