/** Pages that are read in one write: each is byte for byte the same as alone, and none affects another. */
import { fromCall, OwnCall } from "@data-cabinet/core/runtime/AbortableCall"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { type PageQuery, RowReader } from "@data-cabinet/core/row/RowReader"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"
import { CabinetTimeZone } from "@data-cabinet/core/selection/CabinetTimeZone"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { ReaderClient } from "@data-cabinet/store-pg/connection/ReaderClient"
import { Wire } from "@data-cabinet/store-pg/connection/Wire"
import { type GroupRead, readGroup, type RowQuery } from "@data-cabinet/store-pg/row/ReadRows"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Result } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { openReading, type Reading } from "./reading.ts"

const ROWS = 40_000

let reading: Reading
/** With a single slot, so that reads wait for it. */
let narrow: Reading
beforeAll(async () => {
  reading = await openReading({ settings: { lockTimeout: 1_000 } })
  narrow = await openReading({ maxReaderConnections: 1 })
  for (const { run } of [reading, narrow]) {
    await run(
      `CREATE TABLE orders (id int PRIMARY KEY, city text NOT NULL, at timestamptz, total numeric, tags jsonb, flat bytea)`,
    )
    await run(
      `INSERT INTO orders SELECT n, 'City ' || n % 7, timestamptz '2026-01-01Z' + n * interval '7 s', n / 8.0,
         jsonb_build_object('n', n, 'text', repeat('"ё', n % 5)), decode(lpad(to_hex(n), 8, '0'), 'hex')
       FROM generate_series(1, ${ROWS}) n`,
    )
    await run(`CREATE INDEX ON orders (city, at)`)
    await run(`ANALYZE orders`)
  }
})
afterAll(() => Promise.all([reading.close(), narrow.close()]))

/** One page of each kind with its own statement. */
const PAGES: ReadonlyArray<ParamPairs> = [
  [
    ["fc", "id"],
    ["fo", "eq"],
    ["fv", "17"],
  ],
  [
    ["fc", "id"],
    ["fo", "eq"],
    ["fv", "39999"],
  ],
  [
    ["fc", "id"],
    ["fo", "eq"],
    ["fv", "0"],
  ],
  [
    ["sort", "at"],
    ["dir", "desc"],
    ["limit", "20"],
  ],
  [
    ["fc", "city"],
    ["fo", "eq"],
    ["fv", "City 3"],
    ["sort", "at"],
    ["limit", "5"],
  ],
  [
    ["fc", "city"],
    ["fo", "eq"],
    ["fv", "City 4"],
    ["sort", "at"],
    ["limit", "5"],
  ],
  [
    ["col", "total"],
    ["col", "id"],
    ["limit", "3"],
  ],
  [
    ["fc", "city"],
    ["fo", "contains"],
    ["fv", "ty 6"],
    ["limit", "100"],
  ],
]

const REFUSED: ParamPairs = [
  ["fc", "id"],
  ["fo", "eq"],
  ["fv", "99999999999999999999"],
]
/** Scans all rows without a match, which is slow. */
const SLOW: ParamPairs = [
  ["fc", "city"],
  ["fo", "contains"],
  ["fv", "nowhere"],
  ["limit", "10"],
]

/** The plan of a page, from a reader that reads nothing. */
const planned = (params: ParamPairs, name = "orders"): Promise<RowQuery> =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const queries: Array<PageQuery> = []
      const real = yield* RowReader
      const watching = RowReader.of({
        read: (query, call) => {
          queries.push(query)
          return real.read(query, call)
        },
      })
      yield* SelectRows.use((rows) => fromCall((call) => rows.page({ schema: "public", name, params }, call))).pipe(
        Effect.provide(
          Layer.fresh(SelectRows.layer).pipe(
            Layer.provide([
              Layer.succeed(RowReader, watching),
              Layer.succeed(Catalog, catalog),
              Layer.succeed(CabinetTimeZone, "UTC"),
            ]),
          ),
        ),
        Effect.ignore,
      )
      const page = queries.at(-1)!
      const { detail, catalogVersion, oid, owner } = page.table
      return {
        page,
        object: quoteQualified(detail.schema, detail.name),
        expectedVersion: catalogVersion === null ? null : { oid, catalogVersion, owner },
      }
    }),
  )

const ended: Array<number> = []

const groupOf = (queries: ReadonlyArray<RowQuery>, abort?: (call: OwnCall) => void): Promise<GroupRead> =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const { sessions } = yield* ReaderClient
      const ends = yield* timerWheel
      const context = yield* Effect.context()
      const call = new OwnCall(Number.POSITIVE_INFINITY, context)
      abort?.(call)
      const place = {
        sessions: Option.getOrThrow(sessions),
        wheel: ends,
        millis: 8_000,
        end: (pid: number) => Effect.sync(() => void ended.push(pid)),
      }
      return yield* Effect.promise(() => readGroup(place, queries, call))
    }).pipe(Effect.scoped),
  )

const textsOf = (read: GroupRead) => {
  if (typeof read === "string") throw new Error(`The group ${read}`)
  return read.map(({ items }) => items.texts())
}

const singly = async (params: ParamPairs, of = reading) => Result.map(await of.page("orders", params), withoutCursor)

/** The same of a read that waits for the single slot: one that a busy machine refused for waiting too long is repeated. */
const inTurn = async (params: ParamPairs) => {
  for (;;) {
    const result = await singly(params, narrow)
    if (Result.isSuccess(result) || !result.failure.message.includes("waiting")) return result
  }
}

/** Each page has its own cursor. */
const withoutCursor = ({ items, hasMore }: { readonly items: ReadonlyArray<string>; readonly hasMore: boolean }) => ({
  items,
  hasMore,
})

const waits = async (count: number) => {
  for (;;) {
    const [row] = await reading.database.run(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND usename = '${reading.readerRole}' AND wait_event_type = 'Lock'`,
    )
    if (Number(row?.["n"]) === count) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Runs work while another session holds the table's strongest lock. */
const whileLocked = (work: () => Promise<void>): Promise<void> =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`SET LOCAL ROLE "${reading.authorRole}"`)
          yield* sql.unsafe(`LOCK TABLE public.orders IN ACCESS EXCLUSIVE MODE`)
          yield* Effect.promise(work)
        }),
      )
    }),
  )

describe("a group of pages", () => {
  it("returns each page as if it was read alone, the first time and with prepared statements", async () => {
    const queries: Array<RowQuery> = []
    for (const params of PAGES) queries.push(await planned(params))
    const expected: Array<unknown> = []
    for (const params of PAGES) expected.push(Result.getOrThrow(await singly(params)).items)
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < queries.length; at++) {
        const order = queries.map((_, index) => (at + index) % queries.length).slice(0, 4)
        const read = await groupOf(order.map((index) => queries[index]!))
        expect(textsOf(read)).toEqual(order.map((index) => expected[index]))
      }
    }
    const same = await groupOf([queries[0]!, queries[0]!, queries[3]!, queries[0]!])
    expect(textsOf(same)).toEqual([0, 0, 3, 0].map((index) => expected[index]))
  })

  it("reports whether there are more rows and where each page ends", async () => {
    const [some, none] = [await planned(PAGES[3]!), await planned(PAGES[0]!)]
    const read = await groupOf([none, some, none])
    if (typeof read === "string") throw new Error(read)
    expect(read.map(({ hasMore }) => hasMore)).toEqual([false, true, false])
    expect(read[1]!.positionOf(19)).toEqual([expect.stringContaining("2026-"), String(ROWS - 19)])
  })

  it("fails for a refused value in any position, and the next group is read", async () => {
    const good = await planned(PAGES[0]!)
    const refused = await planned(REFUSED)
    for (let at = 0; at < 4; at++) {
      const queries = [good, good, good]
      queries.splice(at, 0, refused)
      expect(await groupOf(queries)).toBe("failed")
      expect(textsOf(await groupOf([good, good]))).toEqual([[expect.any(String)], [expect.any(String)]])
    }
  })

  it("is read again when its session has lost its prepared statements", async () => {
    const queries = [await planned(PAGES[3]!), await planned(PAGES[4]!)]
    const expected = textsOf(await groupOf(queries))
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const { authors } = Option.getOrThrow((yield* ReaderClient).sessions)
        const kept = authors.tryAcquire()
        if (kept === undefined) throw new Error("The session was not kept")
        yield* kept.session.query("DEALLOCATE ALL", [], false)
        authors.release(kept)
      }),
    )
    expect(textsOf(await groupOf(queries))).toEqual(expected)
  })

  it("is cancelled when its caller leaves while a page waits, and its session is reused", async () => {
    const good = await planned(PAGES[0]!)
    await whileLocked(async () => {
      const read = groupOf([good, good, good], (call) => void waits(1).then(() => call.abort()))
      expect(await read).toBe("failed")
    })
    expect(textsOf(await groupOf([good, good])).length).toBe(2)
    expect(ended).toEqual([])
  })

  it("fails without any of its pages when its table stays locked", async () => {
    const good = await planned(PAGES[0]!)
    await whileLocked(async () => expect(await groupOf([good, good])).toBe("failed"))
  })

  describe("of a table that changes", () => {
    beforeEach(async () => {
      await reading.run(`DROP TABLE IF EXISTS changing, elsewhere`)
      await reading.run(`CREATE TABLE changing (id int PRIMARY KEY, a int, b int)`)
      await reading.run(`INSERT INTO changing VALUES (1, 2, 3), (2, 3, 4)`)
    })

    it.each([
      ["another type", `ALTER TABLE changing ALTER a TYPE text`],
      [
        "other names",
        `ALTER TABLE changing RENAME a TO c; ALTER TABLE changing RENAME b TO a; ALTER TABLE changing RENAME c TO b`,
      ],
      ["another column", `ALTER TABLE changing ADD c int`],
      ["another table of its name", `DROP TABLE changing; CREATE TABLE changing (id int PRIMARY KEY, a int, b int)`],
      ["no table", `DROP TABLE changing`],
      ["another name", `ALTER TABLE changing RENAME TO elsewhere`],
      ["no rights", `REVOKE SELECT ON changing FROM %`],
      ["a policy", `ALTER TABLE changing ENABLE ROW LEVEL SECURITY`],
    ])("is discarded if there is %s by then", async (_what, statements) => {
      const queries: Array<RowQuery> = []
      for (const params of [[["limit", "1"]], [["sort", "a"]], [["col", "b"]]] satisfies ReadonlyArray<ParamPairs>) {
        queries.push(await planned(params, "changing"))
      }
      expect(textsOf(await groupOf(queries)).map((texts) => texts.length)).toEqual([1, 2, 2])
      for (const statement of statements.split("; ")) {
        await reading.run(statement.replace("%", `"${reading.readerRole}"`))
      }
      expect(["changed", "failed"]).toContain(await groupOf(queries))
    })
  })
})

describe("reads that wait for a slot", () => {
  it("share writes to PostgreSQL", async () => {
    const expected = await singly(PAGES[4]!, narrow)
    const writes = vi.spyOn(Wire.prototype, "send")
    const read = await Promise.all(Array.from({ length: 40 }, () => singly(PAGES[4]!, narrow)))
    expect(writes.mock.calls.length).toBeLessThan(40)
    writes.mockRestore()
    for (const one of read) expect(one).toEqual(expected)
  })

  it("each get their own page, unaffected by the others", async () => {
    const asked = Array.from({ length: 60 }, (_, n) =>
      n % 19 === 7 ? REFUSED : n % 23 === 11 ? SLOW : PAGES[n % PAGES.length]!,
    )
    const expected = new Map<ParamPairs, unknown>()
    for (const params of [...PAGES, REFUSED, SLOW]) expected.set(params, await singly(params, narrow))
    for (let round = 0; round < 5; round++) {
      const read = await Promise.all(asked.map(inTurn))
      for (const [index, result] of read.entries()) expect(result).toEqual(expected.get(asked[index]!))
    }
  })
})
