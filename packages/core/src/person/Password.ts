/**
 * The passwords of people, stored as scrypt hashes with their parameters, so that these can be raised later. Refuses
 * short and easily guessed passwords: repetitions, keyboard runs, and the most common ones.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import { Effect, Context } from "effect"
import { type PersonError, personError, type SignInError, tooManySignIns } from "./PersonError.ts"
import { FairTurns } from "../limit/FairTurns.ts"

/** The fewest characters of a password. */
export const MIN_PASSWORD_LENGTH = 12
/** The most characters of a password. */
export const MAX_PASSWORD_LENGTH = 200

/** 32 MiB and about 0.4 s for each. */
const COST = { log2: 15, r: 8, p: 3 } as const
const MAX_MEMORY_BYTES = 64 * 1_048_576
const HASH_BYTES = 32

const RUNS = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "йцукенгшщзхъфывапролджэ",
]

/** The most common passwords of 12 characters and more; shorter ones are refused for their length. */
const COMMON = new Set(
  `password1234 password12345 password123456 passw0rd1234 p@ssw0rd1234 passwordpassword iloveyou1234 iloveyouforever
  qwerty123456 qwertyuiop12 qwertyuiop123 qwerty1234567 1q2w3e4r5t6y 1qaz2wsx3edc zaq12wsxcde3 q1w2e3r4t5y6 1qazxsw23edc
  administrator administrator1 letmein12345 welcome12345 welcome123456 changeme1234 changemenow12 abc123abc123
  superman1234 princess1234 football1234 baseball1234 dragon123456 monkey123456 sunshine1234 michael12345
  unbelievable trustnoone12 correcthorsebatterystaple thisisapassword mypassword123 mypassword1234 secretpassword
  datacabinet1 datacabinet12 data-cabinet passwort1234 passwort12345 qwertyqwerty1`
    .trim()
    .split(/\s+/),
)

const isRepetition = (text: string): boolean => /^(.{1,6})\1+.{0,3}$/u.test(text)
const isRun = (text: string): boolean =>
  RUNS.some((run) => run.includes(text) || run.split("").toReversed().join("").includes(text))

/** Refuses unsuitable new passwords; the message never repeats one. */
export const checkPassword = (password: string, name: string): Effect.Effect<void, PersonError> => {
  const refuse = (words: string) => Effect.fail(personError("bad_password", `The password ${words}.`))
  const { length } = Array.from(password)
  if (length < MIN_PASSWORD_LENGTH) return refuse(`needs at least ${MIN_PASSWORD_LENGTH} characters`)
  if (length > MAX_PASSWORD_LENGTH) return refuse(`may have at most ${MAX_PASSWORD_LENGTH} characters`)
  const plain = password.normalize("NFKC").toLowerCase()
  if (COMMON.has(plain) || isRepetition(plain) || isRun(plain))
    return refuse("is too common: it is one of those that attackers try first")
  return plain.replaceAll(name.normalize("NFKC").toLowerCase(), "").length < 6
    ? refuse("is too similar to the name")
    : Effect.void
}

const derive = (password: string, salt: Uint8Array, { log2, r, p }: { log2: number; r: number; p: number }) =>
  Effect.callback<Buffer>((resume) => {
    // NFKC: another keyboard writes the same characters by other code points.
    scrypt(
      password.normalize("NFKC"),
      salt,
      HASH_BYTES,
      { N: 2 ** log2, r, p, maxmem: MAX_MEMORY_BYTES },
      (error, derived) => {
        resume(error === null ? Effect.succeed(derived) : Effect.die(error))
      },
    )
  })

/** `scrypt$15$8$3$salt$hash`, the last two in base64url. */
export const hashPassword = (password: string): Effect.Effect<string> => {
  const salt = randomBytes(16)
  return Effect.map(derive(password, salt, COST), (derived) =>
    ["scrypt", COST.log2, COST.r, COST.p, salt.toString("base64url"), derived.toString("base64url")].join("$"),
  )
}

/** A hash that no password has. Comparing with it makes unknown people take as long as known ones. */
const NOBODY = ["scrypt", COST.log2, COST.r, COST.p, randomBytes(16).toString("base64url"), "A".repeat(43)].join("$")

/** `stored` is null for a person without a password: nothing matches. */
export const verifyPassword = (password: string, stored: string | null): Effect.Effect<boolean> => {
  const [, log2, r, p, salt, expected] = (stored ?? NOBODY).split("$")
  const cost = { log2: Number(log2), r: Number(r), p: Number(p) }
  return Effect.map(derive(password, Buffer.from(salt!, "base64url"), cost), (derived) => {
    const kept = Buffer.from(expected!, "base64url")
    return kept.length === derived.length && timingSafeEqual(kept, derived) && stored !== null
  })
}

/** The most waiting callers per client, per group and in total. One group cannot use up the queue. */
const LIMITS = { ofClient: 2, ofGroup: 10, total: 40 } as const
const RETRY_SECONDS = 5

/**
 * Computes one password at a time in a process, and lets few callers wait: a flood of sign-ins takes neither memory nor
 * CPU time from intake. Groups take turns, so that a flood at one cabinet delays the sign-ins of another by one
 * computation each.
 */
export class PasswordQueue {
  readonly #turns = new FairTurns(LIMITS)

  /** A computation that has begun cannot be stopped, so its turn lasts until it ends. */
  run<A>(group: symbol, client: string, work: Effect.Effect<A>): Effect.Effect<A, SignInError> {
    return this.#turns.run(group, client, Effect.uninterruptible(work), tooManySignIns(RETRY_SECONDS))
  }
}

/** The queue of this process, shared by all its cabinets. */
export const Passwords = Context.Reference<PasswordQueue>("@data-cabinet/core/person/Passwords", {
  defaultValue: () => new PasswordQueue(),
})
