/** What is remembered about slow reads, and which index the diagnostics suggest for them. */
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import type { PageQuery } from "@data-cabinet/core/row/RowReader"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { StatementClient } from "@data-cabinet/store-pg/connection/OwnerClient"
import { SlowReads } from "@data-cabinet/store-pg/row/SlowReads"
import { Result } from "effect"
import { afterAll, assert, beforeAll, beforeEach, expect, it } from "vitest"
import { openReading, type Reading } from "./reading.ts"

const ROWS = 10_000

let reading: Reading
beforeAll(async () => {
  // Reads that wait for a lock do so for as long as the test holds it, however busy the machine is.
  reading = await openReading({ settings: { statementTimeout: 100_000, lockTimeout: 100_000 } })
  await reading.run(
    `CREATE TABLE orders AS SELECT n AS id, n % 7 AS shop, n % 11 AS total, 'secret-' || n AS note FROM generate_series(1, ${ROWS}) n`,
  )
  await reading.run("CREATE TABLE few AS SELECT * FROM orders WHERE id <= 100")
  await reading.run("ANALYZE")
})
afterAll(() => reading.close())
beforeEach(() => reading.database.run("DELETE FROM cabinet.slow_read"))

const found = async () =>
  (await reading.runtime.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))).slowReads

/** A page with only the parts that are used here. */
const page = (name: string, column: string): PageQuery => {
  const type = { kind: "number", name: "integer", operators: {}, runsNoUserCode: true }
  return {
    table: { identity: "place", detail: { schema: "public", name, key: [] } },
    compared: { filters: [{ column: { name: column, type }, condition: "eq" }], period: null, sort: null },
  } as unknown as PageQuery
}
const counted = (times: ReadonlyArray<readonly [name: string, column: string, millis: number]>) =>
  reading.runtime.runPromise(
    StatementClient.use((sql) => {
      const slow = new SlowReads()
      for (const [name, column, millis] of times) slow.note(page(name, column), millis)
      return slow.write(sql)
    }),
  )

it("the diagnostics name the index that would serve them, with how often and how long", async () => {
  await counted([
    ["orders", "shop", 300],
    ["orders", "shop", 249],
    ["orders", "shop", 500],
    ["orders", "total", 9_000],
    ["few", "shop", 900],
    ["few", "shop", 900],
    ["few", "shop", 900],
  ])
  expect(await found()).toEqual([])
  await counted([["orders", "shop", 1_000]])
  const [read, ...others] = await found()
  expect(others).toEqual([])
  expect(read).toMatchObject({ name: "public.orders", columns: ["shop"], count: 3, meanMillis: 600, worstMillis: 1000 })
  expect(read!.since <= read!.lastAt).toBe(true)
})

it("restart at zero after a week without slow reads", async () => {
  await counted([0, 1, 2].map(() => ["orders", "shop", 5_000] as const))
  await reading.database.run(
    "UPDATE cabinet.slow_read SET since = since - interval '8 days', last_at = last_at - interval '8 days'",
  )
  expect(await found()).toEqual([])
  await counted([0, 1, 2].map(() => ["orders", "shop", 300] as const))
  expect(await found()).toMatchObject([{ count: 3, meanMillis: 300, worstMillis: 300 }])
  await reading.database.run("UPDATE cabinet.slow_read SET last_at = last_at - interval '8 days'")
  await counted([["few", "total", 300]])
  expect(await reading.database.run("SELECT table_name FROM cabinet.slow_read")).toEqual([{ table_name: "few" }])
})

it("are bounded in number, in the process and in the database", async () => {
  await counted(Array.from({ length: 1_000 }, (_, n) => ["orders", `c${n}`, 300] as const))
  const rows = () => reading.database.run("SELECT count(*)::int AS n FROM cabinet.slow_read")
  expect(await rows()).toEqual([{ n: 100 }])
  for (let turn = 1; turn < 7; turn++) {
    await counted(Array.from({ length: 100 }, (_, n) => ["orders", `d${turn}_${n}`, 300] as const))
  }
  expect(await rows()).toEqual([{ n: 500 }])
  expect(await found()).toEqual([])
})

it("are recorded without values when rows are read, until the index exists", async () => {
  const params: ParamPairs = [
    ["fc", "shop"],
    ["fo", "eq"],
    ["fv", "3"],
    ["fc", "note"],
    ["fo", "contains"],
    ["fv", "secret-33"],
    ["sort", "total"],
  ]
  const locks = (which: string) => `SELECT FROM pg_locks WHERE relation = 'public.orders'::regclass AND ${which}`
  // Only its duration makes a read slow.
  const held = reading.database.run(`DO $$ BEGIN
    LOCK TABLE public.orders IN ACCESS EXCLUSIVE MODE;
    WHILE (SELECT count(*) FROM (${locks("NOT granted")}) w) < 3 LOOP PERFORM pg_sleep(0.005); END LOOP;
    PERFORM pg_sleep(0.3);
  END $$`)
  await expect.poll(() => reading.database.run(locks("granted"))).toHaveLength(1)
  const reads = await Promise.all([0, 1, 2].map(() => reading.page("orders", params)))
  await held
  for (const read of reads) assert.isTrue(Result.isSuccess(read))
  await expect.poll(found).toMatchObject([{ name: "public.orders", columns: ["shop", "total"], count: 3 }])
  const [kept] = await reading.database.run("SELECT r::text AS text FROM cabinet.slow_read r")
  expect(kept!["text"]).not.toContain("secret")
  await reading.runtime.runPromise(ColumnIndexes.use((indexes) => indexes.build("public", "orders", ["shop", "total"])))
  expect(await found()).toEqual([])
})
