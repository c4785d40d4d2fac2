import { Catalog } from "@data-cabinet/core/row/Catalog"
import { RowReader } from "@data-cabinet/core/row/RowReader"
import { CabinetTimeZone } from "@data-cabinet/core/selection/CabinetTimeZone"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import * as PgCatalog from "@data-cabinet/store-pg/row/PgCatalog"
import { RowPage } from "@data-cabinet/store-pg/row/RowPage"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await reading.run(
    `CREATE TABLE big (id bigint PRIMARY KEY, strict int NOT NULL, loose int, unique_ish int NOT NULL, note text)`,
  )
  await reading.run(
    `INSERT INTO big SELECT g, g % 50, CASE WHEN g % 3 > 0 THEN g % 40 END, g, 'note ' || g FROM generate_series(1, 20000) g`,
  )
  await reading.run(`CREATE INDEX ON big (strict, id)`)
  await reading.run(`CREATE INDEX ON big (loose, id)`)
  await reading.run(`CREATE TABLE heap (n int, note text)`)
  await reading.run(`INSERT INTO heap SELECT g, repeat('x', 300) FROM generate_series(1, 20000) g`)
  await reading.run(`VACUUM ANALYZE big`)
  await reading.run(`VACUUM ANALYZE heap`)
})
afterAll(() => reading.close())

interface PlanNode {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

const nodes = (plan: PlanNode): ReadonlyArray<PlanNode> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

/** The rows that scans of the object itself returned or discarded. */
const rowsRead = (plan: PlanNode): number =>
  nodes(plan)
    .filter((node) => /^(Seq Scan|Index Scan|Index Only Scan|Bitmap Heap Scan|Tid Range Scan)$/.test(node["Node Type"]))
    .reduce(
      (sum, node) =>
        sum +
        (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)) *
          node["Actual Loops"],
      0,
    )

/** The page, and its plan in PostgreSQL. */
const explained = (name: string, params: ParamPairs) =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const catalog = yield* Catalog
      const real = yield* RowReader
      const plans: Array<PlanNode> = []
      const watching = RowReader.of({
        read: async (query, call) => {
          const [row] = await Effect.runPromise(
            sql.unsafe<{ "QUERY PLAN": string | ReadonlyArray<{ Plan: PlanNode }> }>(
              `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${new RowPage(query).text}`,
              query.values.map(({ text }) => text),
            ),
          )
          const answer = row!["QUERY PLAN"]
          const parsed: ReadonlyArray<{ Plan: PlanNode }> = typeof answer === "string" ? JSON.parse(answer) : answer
          plans.push(...parsed.map(({ Plan }) => Plan))
          return real.read(query, call)
        },
      })
      const page = yield* SelectRows.use((rows) =>
        fromCall((call) => rows.page({ schema: "public", name, params }, call)),
      ).pipe(
        Effect.provide(
          Layer.fresh(SelectRows.layer).pipe(
            Layer.provide([
              Layer.succeed(RowReader, watching),
              Layer.succeed(Catalog, catalog),
              Layer.succeed(CabinetTimeZone, "UTC"),
            ]),
          ),
        ),
      )
      return { page, plan: plans[0] as PlanNode }
    }),
  )

/** The most rows read by any page of `limit`, tried at positions all along the walk. A cursor fits any page size. */
const mostRead = async (name: string, params: ParamPairs, limit: number) => {
  let most = 0
  let at: ParamPairs = []
  for (;;) {
    const { plan } = await explained(name, [...params, ...at, ["limit", String(limit)]])
    const stride = Result.getOrThrow(await reading.page(name, [...params, ...at, ["limit", "997"]]))
    // Near the end, PostgreSQL may prefer sorting all remaining rows to using the index.
    if (stride.nextCursor === null) return most
    most = Math.max(most, rowsRead(plan))
    at = [["cursor", stride.nextCursor]]
  }
}

describe("a page of an indexed order", () => {
  it.each([
    [[["sort", "strict"]]],
    [
      [
        ["sort", "strict"],
        ["dir", "desc"],
      ],
    ],
    [[["sort", "loose"]]],
    [
      [
        ["sort", "loose"],
        ["dir", "desc"],
      ],
    ],
    [[]],
    [[["dir", "desc"]]],
  ] satisfies Array<[ParamPairs]>)("reads only one row more than it shows, at any depth: %j", async (params) => {
    expect(await mostRead("big", [...params, ["col", "id"]], 30)).toBe(31)
  })

  it("reads only a few blocks of a table that has neither key nor sort", async () => {
    let cursor: string | null = null
    for (let at = 0; at < 5; at++) {
      const params: ParamPairs = [
        ["limit", "50"],
        ["col", "n"],
      ]
      const { page, plan } = await explained("heap", cursor === null ? params : [...params, ["cursor", cursor]])
      expect(rowsRead(plan)).toBeLessThanOrEqual(2 * 16 * 30)
      cursor = page.nextCursor
    }
  })

  it("is one statement, which itself proves that the object is unchanged", async () => {
    const asked: Array<string> = []
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const real = yield* RowReader
        const watched = new Proxy(sql, {
          get: (target, name, self) => (name === "unsafe" && asked.push("owner"), Reflect.get(target, name, self)),
        })
        const ports = Layer.mergeAll(
          Layer.fresh(PgCatalog.layer).pipe(Layer.provide(Layer.succeed(PgClient.PgClient, watched))),
          Layer.succeed(
            RowReader,
            RowReader.of({ read: (query, call) => (asked.push("reader"), real.read(query, call)) }),
          ),
        )
        const page = SelectRows.use((rows) =>
          fromCall((call) => rows.page({ schema: "public", name: "big", params: [["limit", "1"]] }, call)),
        )
        yield* Effect.gen(function* () {
          yield* page
          asked.push("again")
          yield* page
        }).pipe(Effect.provide(Layer.fresh(SelectRows.layer).pipe(Layer.provide(ports))))
      }),
    )
    expect(asked.slice(asked.indexOf("again"))).toEqual(["again", "reader"])
  })
})
