/**
 * Proofs of work that a browser attaches to a form, in the format of ALTCHA (version 2 of its protocol): the challenge, and
 * the check of its solution. Both are pure, so a challenge needs no database, and any server that has the key can check it.
 *
 * A solution is valid once. The caller remembers its `id` until `until`; after that the solution has expired.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { Result } from "effect"

/** How long a challenge can be solved and submitted, in seconds: a form may stay open this long. */
export const CHALLENGE_SECONDS = 3600

/** By how much the clocks of two servers may differ, in seconds. */
export const CLOCK_SKEW_SECONDS = 120

/** The longest submitted solution, in characters. */
export const MAX_PROOF_LENGTH = 2_048

/** A key begins with these digits: a browser tries some 65,000 counters. */
const KEY_PREFIX = "0000"
const MAX_COUNTER = 0xffff_ffff
const NONCE_BYTES = 16

/** How many random bytes a challenge takes. */
export const CHALLENGE_RANDOM_BYTES = 2 * NONCE_BYTES

/** The parameters of a challenge, in the order in which they are signed. */
interface Parameters {
  readonly algorithm: "SHA-256"
  readonly cost: 1
  /** Seconds since 1970. */
  readonly expiresAt: number
  readonly keyLength: 32
  readonly keyPrefix: string
  /** In hexadecimal, like the salt. */
  readonly nonce: string
  readonly salt: string
}

/** A challenge as the widget reads it. */
export interface AltchaChallenge {
  readonly parameters: Parameters
  readonly signature: string
}

/** A valid solution, by which a second use of it is recognized. */
export interface AltchaProof {
  /** The challenge's nonce, in hexadecimal. */
  readonly id: string
  /** When it can no longer be used, by any server's clock, in milliseconds since 1970. */
  readonly until: number
}

/** `bad`: not a solution of a challenge with this key; `expired`: its challenge was issued too long ago. */
export type AltchaRefusal = "bad" | "expired"

const signatureOf = (parameters: Parameters, key: string): string =>
  createHmac("sha256", key).update(JSON.stringify(parameters)).digest("hex")

/** Issues a challenge. `now`: in milliseconds since 1970; `random`: 32 random bytes. */
export const altchaChallenge = (key: string, now: number, random: Buffer): AltchaChallenge => {
  const parameters: Parameters = {
    algorithm: "SHA-256",
    cost: 1,
    expiresAt: Math.floor(now / 1000) + CHALLENGE_SECONDS,
    keyLength: 32,
    keyPrefix: KEY_PREFIX,
    nonce: random.toString("hex", 0, NONCE_BYTES),
    salt: random.toString("hex", NONCE_BYTES, 2 * NONCE_BYTES),
  }
  return { parameters, signature: signatureOf(parameters, key) }
}

/** Checks what a form submitted. `now`: in milliseconds since 1970. Total: any text is a proof or refused. */
export const checkAltcha = (text: string, key: string, now: number): Result.Result<AltchaProof, AltchaRefusal> => {
  const given = solutionIn(text)
  if (given === null) return Result.fail("bad")
  const { parameters, signature, counter } = given
  if (!equal(signature, signatureOf(parameters, key))) return Result.fail("bad")
  // Signed, so it was issued by a server with this key, at most the skew ahead of this one.
  const until = (parameters.expiresAt + CLOCK_SKEW_SECONDS) * 1000
  if (now >= until) return Result.fail("expired")
  return derivedKey(parameters, counter).startsWith(parameters.keyPrefix)
    ? Result.succeed({ id: parameters.nonce, until })
    : Result.fail("bad")
}

const derivedKey = ({ salt, nonce }: Parameters, counter: number): string => {
  const tried = Buffer.alloc(4)
  tried.writeUInt32BE(counter)
  return createHash("sha256").update(salt, "hex").update(nonce, "hex").update(tried).digest("hex")
}

const equal = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

interface Solution {
  readonly parameters: Parameters
  readonly signature: string
  readonly counter: number
}

const HEX_16 = /^[0-9a-f]{32}$/
const HEX_32 = /^[0-9a-f]{64}$/

/** The parts of a solution that the check uses; null if the text is something else. */
const solutionIn = (text: string): Solution | null => {
  if (text.length > MAX_PROOF_LENGTH) return null
  const { challenge, solution } = record(parsed(text))
  const { parameters, signature } = record(challenge)
  const { expiresAt, keyPrefix, nonce, salt } = record(parameters)
  const { counter } = record(solution)
  if (typeof signature !== "string" || !HEX_32.test(signature)) return null
  if (typeof nonce !== "string" || typeof salt !== "string" || !HEX_16.test(nonce) || !HEX_16.test(salt)) return null
  if (typeof keyPrefix !== "string" || !isWhole(expiresAt) || !isWhole(counter) || counter > MAX_COUNTER) return null
  return {
    parameters: { algorithm: "SHA-256", cost: 1, expiresAt, keyLength: 32, keyPrefix, nonce, salt },
    signature,
    counter,
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, "base64").toString("utf8"))
  } catch {
    return null
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
