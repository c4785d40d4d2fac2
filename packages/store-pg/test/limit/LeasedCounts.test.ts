/** Credentials counted by several processes that lease numbers, compared with a database that adds up and looks up. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { unavailable } from "@data-cabinet/store-pg/connection/StoreFailure"
import { leasedCounts, type Rows } from "@data-cabinet/store-pg/limit/LeasedCounts"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"

const LIMIT = 10_000
const LARGE = 1_000_000
const SHARE = LIMIT / 1000
const FOREVER = Number.POSITIVE_INFINITY

interface Found {
  readonly subject: string
}

/** One minute of one database. What is counted but not asked for by a caller was leased. */
class Database {
  readonly counts = new Map<string, number>()
  readonly live = new Set(["key", "other"])
  /** Statements, by kind; `notes` write the time of a last request only. */
  counted = 0
  found = 0
  notes = 0
  /** Its statements fail from now on: those that count before they are run, or after. */
  fault: "before" | "after" | "none" = "none"

  readonly count = (asked: ReadonlyMap<string, number>): Rows<Found & { count: number; left_ms: number }> =>
    Effect.suspend(() => {
      if ([...asked.values()].every((n) => n === 0)) this.notes++
      else this.counted++
      if (this.fault === "before") return away
      const live = Array.from(asked).filter(([subject]) => this.live.has(subject))
      for (const [subject, n] of live) this.counts.set(subject, (this.counts.get(subject) ?? 0) + n)
      if (this.fault === "after") return away
      const row = (subject: string) => ({ subject, count: this.counts.get(subject)!, left_ms: 30_000 })
      return Effect.succeed(new Map(live.map(([subject]) => [subject, row(subject)])))
    })

  readonly find = (subjects: ReadonlyArray<string>): Rows<Found> =>
    Effect.suspend(() => {
      this.found++
      if (this.fault !== "none") return away
      const live = subjects.filter((subject) => this.live.has(subject))
      return Effect.succeed(new Map(live.map((subject) => [subject, { subject }])))
    })
}

const away = Effect.fail(unavailable("The database is unavailable."))

const processOf = ({ count, find }: Database, limit = LIMIT) =>
  Effect.map(
    leasedCounts<Found>({ limit, count, find }),
    (ask) =>
      (subject = "key") =>
        fromResult(() => ask(subject, FOREVER)),
  )

const repeated = <A>(n: number, ask: () => Effect.Effect<A, StoreUnavailable>, concurrency = 8) =>
  Effect.forEach(Array.from({ length: n }), ask, { concurrency })

/** Asks until a new lease has been given, and spends one number of it. */
const untilLeased = <A>(database: Database, ask: () => Effect.Effect<A, StoreUnavailable>) =>
  Effect.gen(function* () {
    yield* repeated(100, ask, 1)
    for (const { counted } = database; database.counted === counted;) yield* ask()
    yield* Effect.promise(() => new Promise<void>((given) => setImmediate(given)))
    yield* ask()
  })

const Step = Schema.Struct({
  process: Schema.Literals([0, 1, 2]),
  requests: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 800 })),
  fault: Schema.Literals(["before", "after", "none", "none"]),
})

it.effect.prop(
  "leasedCounts assigns each number once over three processes, and lets no more pass than the limit, whatever fails",
  [Schema.Array(Step).check(Schema.isMaxLength(12))],
  ([steps]) =>
    Effect.gen(function* () {
      const database = new Database()
      const processes = yield* Effect.all([0, 1, 2].map(() => processOf(database)))
      const numbers: Array<number> = []
      let failed = 0
      const ask = (process: number) => () =>
        Effect.match(processes[process]!(), {
          onFailure: () => void failed++,
          onSuccess: (row) => void numbers.push(row!.count),
        })
      for (const { process, requests, fault } of steps) {
        yield* repeated(requests, ask(process))
        // A few fail, so that their numbers, and leases, are lost.
        database.fault = fault
        if (fault !== "none") yield* repeated(20, ask(process))
        database.fault = "none"
      }
      assert.strictEqual(new Set(numbers).size, numbers.length)
      // One process alone then asks until it is refused.
      const before = numbers.filter((number) => number <= LIMIT).length
      const lost = failed + steps.length * SHARE + 2 * SHARE
      yield* repeated(LIMIT + 8 - before, ask(0))
      assert.strictEqual(new Set(numbers).size, numbers.length)
      const passed = numbers.filter((number) => number <= LIMIT).length
      assert.isAtMost(passed, LIMIT)
      assert.isAtLeast(passed, LIMIT - lost)
    }).pipe(Effect.scoped),
  { arbitrary: { runs: 10 } },
)

it.effect("leasedCounts counts seldom and looks up each time, with a large limit", () =>
  Effect.gen(function* () {
    const database = new Database()
    const ask = yield* processOf(database, LARGE)
    yield* repeated(10_000, ask, 1)
    assert.isBelow(database.counted, 100)
    assert.isAbove(database.found, 9_900)
  }).pipe(Effect.scoped),
)

it.effect("leasedCounts counts each request by itself below ten thousand a minute", () =>
  Effect.gen(function* () {
    const database = new Database()
    const ask = yield* processOf(database, 9_999)
    const rows = yield* repeated(1_000, ask, 1)
    assert.deepStrictEqual([database.counted, database.found], [1_000, 0])
    assert.deepStrictEqual(
      rows.map((row) => row!.count),
      Array.from({ length: 1_000 }, (_, n) => n + 1),
    )
  }).pipe(Effect.scoped),
)

it.effect("leasedCounts refuses a credential from the moment it is no longer live, with numbers left to spend", () =>
  Effect.gen(function* () {
    const database = new Database()
    const ask = yield* processOf(database, LARGE)
    yield* untilLeased(database, ask)
    const { counted } = database
    database.live.delete("key")
    assert.isNull(yield* ask())
    // It had a number: it was looked up, not counted.
    assert.strictEqual(database.counted, counted)
    database.live.add("key")
    assert.isAbove((yield* ask())!.count, 100)
  }).pipe(Effect.scoped),
)

it.effect("leasedCounts writes the time of the last request within a second of a request that was not counted", () =>
  Effect.gen(function* () {
    const database = new Database()
    const ask = yield* processOf(database, LARGE)
    yield* untilLeased(database, ask)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(database.notes, 1)
    const counts = new Map(database.counts)
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(database.notes, 1)
    assert.deepStrictEqual(database.counts, counts)
    yield* ask()
    yield* TestClock.adjust("1 second")
    assert.strictEqual(database.notes, 2)
  }).pipe(Effect.scoped),
)
