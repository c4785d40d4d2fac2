/** Rates on a real database: exact, however many requests and processes count at once. */
import { createHash } from "node:crypto"
import { monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgRateLimiter from "@data-cabinet/store-pg/limit/PgRateLimiter"
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Clock, Effect, Layer, ManagedRuntime } from "effect"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()
let one: ReturnType<typeof testCabinet>
let other: ReturnType<typeof testCabinet>

/** At the beginning of one of the database's minutes, so that no window ends while a test counts. */
const atMinute = () =>
  database.run(
    `UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp()) + interval '1 second' - clock_timestamp()`,
  )

beforeAll(() => {
  one = testCabinet(database.url)
  other = testCabinet(database.url)
})
afterAll(async () => {
  await one.dispose()
  await other.dispose()
})

/** A clock whose time a test sets; it sleeps as the real one does. */
const withTime = (real: Clock.Clock, time: () => number): Clock.Clock => {
  const clock = Object.create(real) as { -readonly [K in keyof Clock.Clock]: Clock.Clock[K] }
  clock.currentTimeMillisUnsafe = time
  return clock
}

const askAtOnce = async (count: number, ask: (limiter: RateLimiter["Service"]) => Effect.Effect<unknown, unknown>) => {
  const all = RateLimiter.use((limiter) =>
    Effect.all(
      Array.from({ length: count }, () => ask(limiter)),
      { concurrency: "unbounded" },
    ),
  )
  const [a, b] = await Promise.all([one.runPromise(all), other.runPromise(all)])
  return [...a, ...b] as ReadonlyArray<{ allowed: boolean; remaining: number; retryAfter: number }>
}

/** Resolves when work that needs nothing from outside is done, long before anything arrives on a socket. */
const afterMicrotasks = async () => {
  for (let n = 0; n < 10; n++) await Promise.resolve()
}

const FOREVER = Number.POSITIVE_INFINITY

/** A request with a key, counted within this many milliseconds. */
const key = (limiter: RateLimiter["Service"], fingerprint: Uint8Array, millis: number) =>
  Effect.flatMap(Clock.Clock, (clock) => fromResult(() => limiter.key(fingerprint, monotonicMillis(clock) + millis)))

const intake = (limiter: RateLimiter["Service"], ip: string | null, sourceId: number | null) =>
  fromResult(() => limiter.intake(ip, sourceId, FOREVER))

const LEFT = Array.from({ length: 60 }, (_, n) => n)

it("PgRateLimiter admits exactly the limit when two processes count at once", async () => {
  await atMinute()
  const answers = await askAtOnce(50, (limiter) => intake(limiter, null, 7))
  const allowed = answers.filter((answer) => answer.allowed)
  assert.deepStrictEqual(
    allowed.map(({ remaining }) => remaining).sort((a, b) => a - b),
    LEFT,
  )
  assert.isTrue(answers.every(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 60))
})

it("PgRateLimiter counts each subject of a statement separately", async () => {
  await atMinute()
  const ask = RateLimiter.use((limiter) =>
    Effect.all(
      Array.from({ length: 90 }, (_, n) => intake(limiter, `203.0.113.${n % 3}`, null)),
      { concurrency: "unbounded" },
    ),
  )
  const answers = await one.runPromise(ask)
  for (const client of [0, 1, 2]) {
    const remaining = answers.filter((_, n) => n % 3 === client).map((answer) => answer.remaining)
    assert.deepStrictEqual(
      remaining.sort((a, b) => a - b),
      LEFT.slice(30),
    )
  }
})

it("PgRateLimiter counts against a source only what its clients may send, from two processes and many clients at once", async () => {
  await atMinute()
  const clients = ["198.51.100.1", "198.51.100.2", null]
  const answers = await Promise.all(
    [one, other].map((process) =>
      process.runPromise(
        RateLimiter.use((limiter) =>
          Effect.all(
            Array.from({ length: 120 }, (_, n) => intake(limiter, clients[n % 3]!, 20 + (n % 2))),
            { concurrency: "unbounded" },
          ),
        ),
      ),
    ),
  ).then((both) => both.flat())
  const refusedByClient = answers.filter(({ allowed, subject }) => !allowed && subject === "client")
  // Each client sent 80, of which 60 may pass.
  assert.strictEqual(refusedByClient.length, 40)
  const windows = await database.run(
    `SELECT subject, count FROM cabinet.rate_window WHERE subject IN ('ip:198.51.100.1', 'ip:198.51.100.2', 'source:20', 'source:21')`,
  )
  const counts = new Map(windows.map((row) => [row["subject"], Number(row["count"])]))
  // A refusal from the cache is not counted again.
  assert.isAtLeast(counts.get("ip:198.51.100.1")!, 60)
  const passed = answers.filter(({ allowed }) => allowed).length
  const refusedBySource = answers.length - refusedByClient.length - passed
  assert.strictEqual(passed, 120)
  assert.isAtMost(counts.get("source:20")! + counts.get("source:21")!, passed + refusedBySource)
  assert.isAtLeast(counts.get("source:20")!, 60)
  assert.isAtLeast(counts.get("source:21")!, 60)
})

it("PgRateLimiter admits a large limit and hardly less, over two processes that lease their quotas", async () => {
  const LIMIT = 10_000
  const large = [0, 1].map(() => testCabinet(database.url, { settings: { intakeRate: LIMIT } }))
  await Promise.all(large.map((process) => process.runPromise(RateLimiter)))
  // Quotas are leased in the first half of a minute.
  await atMinute()
  let atOnce = 0
  const ask = RateLimiter.use((limiter) => {
    const countOne = () => {
      let isCounted = false
      const counted = limiter.intake("203.0.113.77", 30, FOREVER).finally(() => (isCounted = true))
      void afterMicrotasks().then(() => void (isCounted && atOnce++))
      return fromResult(() => counted)
    }
    return Effect.forEach(Array.from({ length: 6_000 }), countOne, { concurrency: 20 })
  })
  const answers = (await Promise.all(large.map((process) => process.runPromise(ask)))).flat()
  await Promise.all(large.map((process) => process.dispose()))
  const passed = answers.filter(({ allowed }) => allowed).length
  assert.isAtMost(passed, LIMIT)
  assert.isAtLeast(passed, LIMIT - 2 * (LIMIT / 1000))
  // A leased number, or a refusal in this minute, is known without a query.
  assert.isAbove(atOnce, LIMIT / 4)
})

it("PgRateLimiter starts over with the next minute", async () => {
  await atMinute()
  const count = () => one.runPromise(RateLimiter.use((limiter) => intake(limiter, null, 8)))
  assert.strictEqual((await count()).remaining, 59)
  assert.strictEqual((await count()).remaining, 58)
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '1 minute'")
  assert.strictEqual((await count()).remaining, 59)
})

it("PgRateLimiter forgets a refusal by the end of the minute, even when its own clock is set back", async () => {
  const real = Effect.runSync(Clock.Clock)
  let time = 1_000_000
  // Only this adapter, because the clock must not be set back for anything else.
  const process = ManagedRuntime.make(
    PgRateLimiter.layer({ apiRate: 120, intakeRate: 1 }).pipe(
      Layer.provide(OwnerClient.layer({ url: database.url })),
      Layer.provide(
        Layer.succeed(
          Clock.Clock,
          withTime(real, () => time),
        ),
      ),
    ),
  )
  const ask = () => process.runPromise(RateLimiter.use((limiter) => intake(limiter, "203.0.113.90", 40)))
  await database.run(
    `UPDATE cabinet.clock SET shift = date_trunc('minute', clock_timestamp()) + interval '10.7 seconds' - clock_timestamp()`,
  )
  const left = `extract(epoch FROM date_trunc('minute', cabinet.now()) + interval '1 minute' - cabinet.now())`
  const [window] = await database.run(`SELECT ceil(1000 * ${left})::int AS left`)
  assert.isTrue((await ask()).allowed)
  assert.isFalse((await ask()).allowed)
  assert.isFalse((await ask()).allowed)
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '1 minute'")
  // Remembered, because the database would let this pass.
  assert.isFalse((await ask()).allowed)
  time += Number(window!["left"])
  assert.isTrue((await ask()).allowed)

  assert.isFalse((await ask()).allowed)
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '1 minute'")
  time -= 3_600_000
  assert.isTrue((await ask()).allowed)
  await process.dispose()
})

it("PgRateLimiter counts a late request of the previous minute in the current one, never in one long past", async () => {
  await atMinute()
  const count = () => one.runPromise(RateLimiter.use((limiter) => intake(limiter, null, 9)))
  const move = (by: string) => database.run(`UPDATE cabinet.clock SET shift = shift + interval '${by}'`)
  assert.strictEqual((await count()).remaining, 59)
  await move("-1 minute")
  const late = await count()
  assert.strictEqual(late.remaining, 58)
  assert.isAtMost(late.retryAfter, 60)
  await move("1 minute")
  assert.strictEqual((await count()).remaining, 57)
  await move("-2 minutes")
  assert.strictEqual((await count()).remaining, 59)
})

it("PgRateLimiter finds valid keys among concurrent revoked, expired and invented ones", async () => {
  await atMinute()
  await database.run(`INSERT INTO cabinet.api_key (name, prefix, fingerprint, revoked_at, expires_at)
    VALUES ('live', 'a', sha256('live'), NULL, NULL), ('revoked', 'b', sha256('revoked'), now(), NULL),
      ('expired', 'c', sha256('expired'), NULL, cabinet.now()),
      ('expires', 'd', sha256('expires'), NULL, cabinet.now() + interval '1 hour')`)
  const fingerprint = (word: string) => createHash("sha256").update(word).digest()
  const ask = RateLimiter.use((limiter) =>
    Effect.all(
      ["live", "revoked", "live", "made up", "expired", "expires"].map((word) =>
        key(limiter, fingerprint(word), 60_000),
      ),
      { concurrency: "unbounded" },
    ),
  )
  const answers = await one.runPromise(ask)
  assert.deepStrictEqual(
    answers.map((answer) => answer?.remaining ?? null),
    [119, null, 118, null, null, 119],
  )
})

it("PgRateLimiter finds valid keys among revoked, expired and invented ones, one at a time", async () => {
  await atMinute()
  await database.run(`INSERT INTO cabinet.api_key (name, prefix, fingerprint, revoked_at, expires_at)
    VALUES ('alone', 'a', sha256('alone'), NULL, NULL), ('alone revoked', 'b', sha256('alone revoked'), now(), NULL),
      ('alone expired', 'c', sha256('alone expired'), NULL, cabinet.now()),
      ('alone expires', 'd', sha256('alone expires'), NULL, cabinet.now() + interval '1 hour')`)
  const rows = await database.run("SELECT id::int4 AS id, name FROM cabinet.api_key WHERE name LIKE 'alone%'")
  const ids = new Map(rows.map(({ id, name }) => [name, id]))
  const ask = (word: string) =>
    one.runPromise(RateLimiter.use((limiter) => key(limiter, createHash("sha256").update(word).digest(), 60_000)))
  const told: Array<unknown> = []
  for (const word of ["alone", "alone revoked", "alone", "made up alone", "alone expired", "alone expires"]) {
    const answer = await ask(word)
    told.push(answer?.keyId ?? null)
  }
  const [live, expires] = [ids.get("alone"), ids.get("alone expires")]
  assert.deepStrictEqual(told, [live, null, live, null, null, expires])
  await database.run("UPDATE cabinet.api_key SET revoked_at = now() WHERE name = 'alone'")
  assert.isNull(await ask("alone"))
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '61 minutes'")
  assert.isNull(await ask("alone expires"))
})

it("PgRateLimiter admits exactly the limit of one key when two processes count at once", async () => {
  await atMinute()
  await database.run(`INSERT INTO cabinet.api_key (name, prefix, fingerprint) VALUES ('busy', 'a', sha256('busy'))`)
  const fingerprint = createHash("sha256").update("busy").digest()
  const answers = await askAtOnce(100, (limiter) => key(limiter, fingerprint, 60_000))
  const allowed = answers.filter((answer) => answer.allowed).map(({ remaining }) => remaining)
  assert.deepStrictEqual(
    allowed.sort((a, b) => a - b),
    Array.from({ length: 120 }, (_, n) => n),
  )
})

it("PgRateLimiter fails for a key that is not counted in time, and finds it again afterwards", async () => {
  const fingerprint = createHash("sha256").update("live").digest()
  const asked = Effect.gen(function* () {
    const limiter = yield* RateLimiter
    const sql = yield* PgClient.PgClient
    const late = yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`LOCK TABLE cabinet.rate_window IN ACCESS EXCLUSIVE MODE`
        return yield* Effect.flip(key(limiter, fingerprint, 200))
      }),
    )
    return { late, after: yield* key(limiter, fingerprint, 60_000) }
  })
  const { late, after } = await one.runPromise(asked)
  assert.strictEqual(late._tag, "StoreUnavailable")
  assert.isTrue(after?.allowed)
})

it("deleteWindows deletes all past windows, however many clients they counted", async () => {
  await database.run(
    `INSERT INTO cabinet.rate_window (subject, minute, count, last_at)
     SELECT 'ip:past:' || n, cabinet.now() - interval '3 minutes', 1, cabinet.now() FROM generate_series(1, 25000) n`,
  )
  await database.run(
    "INSERT INTO cabinet.rate_window (subject, minute, count, last_at) VALUES ('ip:present', cabinet.now(), 1, cabinet.now())",
  )
  await one.runPromise(PgRateLimiter.deleteWindows)
  const left = await database.run(
    "SELECT subject FROM cabinet.rate_window WHERE subject LIKE 'ip:pa%' OR subject = 'ip:present'",
  )
  assert.deepStrictEqual(left, [{ subject: "ip:present" }])
})

it("PgRateLimiter admits exactly a source's own rate, from any client, and counts it against no client", async () => {
  await atMinute()
  const rated = (limiter: RateLimiter["Service"], rate: number) =>
    fromResult(() => limiter.intake("203.0.113.99", 71, FOREVER, rate))
  const answers = await askAtOnce(100, (limiter) => rated(limiter, 70))
  assert.strictEqual(answers.filter(({ allowed }) => allowed).length, 70)
  // A higher rate applies at once, even if the source was over the lower one; so does a lower rate.
  const [raised, lowered] = await one.runPromise(
    RateLimiter.use((limiter) => Effect.all([rated(limiter, 1_000), rated(limiter, 50)])),
  )
  assert.deepInclude(raised, { allowed: true, limit: 1_000, subject: "source" })
  assert.deepInclude(lowered, { allowed: false, limit: 50, subject: "source" })
  const client = await one.runPromise(RateLimiter.use((limiter) => intake(limiter, "203.0.113.99", null)))
  assert.deepInclude(client, { allowed: true, remaining: 59 })
})
