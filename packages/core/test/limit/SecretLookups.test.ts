/** Wrong secrets from an address are slowed down, and never keep a right one from being found. */
import { hash } from "node:crypto"
import { SecretLookups } from "@data-cabinet/core/limit/SecretLookups"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"

const ADDRESS = "198.51.100.9"
const fingerprint = (secret: string) => hash("sha256", secret, "buffer")

/** Secrets that begin with `right` are found. */
const store = (limit = 3) => {
  const lookups = new SecretLookups(limit)
  const asked: Array<string> = []
  const find = (secret: string, ip: string | null = ADDRESS) =>
    lookups.find(
      ip,
      fingerprint(secret),
      Effect.sync(() => {
        asked.push(secret)
        return secret.startsWith("right") ? Option.some(secret) : Option.none()
      }),
    )
  const wrong = (count: number, ip: string | null = ADDRESS) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => `wrong ${n}`),
      (secret) => find(secret, ip),
    )
  return { asked, find, wrong }
}

it.effect(
  "SecretLookups accepts a secret that was right within the hour at once, even from an address over its limit",
  Effect.fn(function* () {
    const { find, wrong } = store()
    yield* find("right")
    yield* wrong(3)
    assert.deepStrictEqual(yield* find("right"), Option.some("right"))
    yield* TestClock.adjust("59 minutes")
    yield* wrong(3)
    assert.deepStrictEqual(yield* find("right"), Option.some("right"))
  }),
)

it.effect(
  "SecretLookups looks up other secrets one at a time with a pause, until the minute ends",
  Effect.fn(function* () {
    const { asked, find, wrong } = store()
    yield* wrong(3)
    const all = yield* Effect.forkChild(
      Effect.all(
        ["wrong a", "wrong b", "right c"].map((secret) => find(secret)),
        { concurrency: "unbounded" },
      ),
    )
    yield* TestClock.adjust("20 millis")
    assert.deepStrictEqual(asked.slice(3), ["wrong a", "wrong b"])
    yield* TestClock.adjust("20 millis")
    assert.deepStrictEqual((yield* Fiber.join(all)).at(-1), Option.some("right c"))
    yield* TestClock.setTime(60_000)
    yield* wrong(3)
  }),
)

it.effect(
  "SecretLookups refuses only an address that has 20 lookups waiting",
  Effect.fn(function* () {
    const { find, wrong } = store(1)
    yield* wrong(1)
    yield* wrong(1, "203.0.113.1")
    const flood = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, n) => `flood ${n}`),
      (secret) => Effect.forkChild(find(secret), { startImmediately: true }),
    )
    assert.deepInclude(yield* Effect.flip(find("right but unknown")), { _tag: "TooManyWrong", retryAfter: 1 })
    const other = yield* Effect.forkChild(find("right, from elsewhere", "203.0.113.1"), { startImmediately: true })
    // The first is being looked up; this address comes after one more turn.
    yield* TestClock.adjust("40 millis")
    assert.isTrue(Option.isSome(yield* Fiber.join(other)))
    yield* TestClock.adjust("1 second")
    yield* Effect.forEach(flood, Fiber.join)
  }),
)

it.effect(
  "SecretLookups forgets a secret that no longer exists",
  Effect.fn(function* () {
    const lookups = new SecretLookups(1)
    let isThere = true
    let count = 0
    const find = lookups.find(
      ADDRESS,
      fingerprint("revoked"),
      Effect.sync(() => {
        count++
        return isThere ? Option.some(1) : Option.none()
      }),
    )
    yield* find
    isThere = false
    assert.isTrue(Option.isNone(yield* find))
    const slow = yield* Effect.forkChild(find, { startImmediately: true })
    assert.strictEqual(count, 3)
    const next = yield* Effect.forkChild(find, { startImmediately: true })
    assert.strictEqual(count, 3)
    yield* TestClock.adjust("1 second")
    yield* Effect.forEach([slow, next], Fiber.join)
  }),
)
