import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { COLUMNS, createKinds, definitions, filler } from "./orderedColumns.ts"
import { type Random, randomFrom } from "./random.ts"
import { openReading, type Reading, walk } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await createKinds(reading)
})
afterAll(() => reading.close())

const fill = (...rows: Parameters<ReturnType<typeof filler>>) => filler(reading)(...rows)

const numbers = (items: ReadonlyArray<string>): ReadonlyArray<number> => items.map((item) => JSON.parse(item).n)

/** Walks in every order, and compares with PostgreSQL's whole result, or as sets if the order has ties. */
const walksRight = async (name: string, random: Random, ties: string | null, rows: number) => {
  for (const [column] of COLUMNS) {
    for (const dir of ["asc", "desc"]) {
      const limit = String(1 + random.below(rows))
      const params: ParamPairs = [
        ["sort", column],
        ["dir", dir],
        ["limit", limit],
        ["col", "n"],
        // The end of a page is read from its visible values, or sent in addition.
        ...(random.chance(0.5) ? [["col", column] as const] : []),
      ]
      const walked = numbers((await walk(reading, name, params)).items)
      const expected = await reading.run(
        `SELECT n FROM ${name} ORDER BY "${column}" ${dir} NULLS LAST${ties === null ? "" : `, ${ties.replaceAll("$", dir)}`}`,
      )
      const all = expected.map((row) => Number(row["n"]))
      const about = `${name} by ${column} ${dir}, pages of ${limit}`
      if (ties === null)
        expect(
          [...walked].sort((a, b) => a - b),
          about,
        ).toEqual([...all].sort((a, b) => a - b))
      else expect(walked, about).toEqual(all)
    }
  }
}

describe("a walk over every page", () => {
  it("equals the whole result, by every type, with NULLs and ties, when there is a key", async () => {
    const random = randomFrom(1)
    await reading.run(`CREATE TABLE keyed (n int PRIMARY KEY, k text, ${definitions(false)})`)
    await fill("keyed", random, 60, () => true)
    await walksRight("keyed", random, "n $", 60)
  })

  it("equals the whole result if no column may be NULL and the key has two columns", async () => {
    const random = randomFrom(2)
    await reading.run(
      `CREATE TABLE strict (n int NOT NULL, k text COLLATE "C", ${definitions(true)}, PRIMARY KEY (k, n))`,
    )
    await fill("strict", random, 50, () => false)
    await walksRight("strict", random, "k $, n $", 50)
  })

  it("shows each row once when a table, a matview or a partitioned table has no key", async () => {
    const random = randomFrom(3)
    await reading.run(`CREATE TABLE keyless (n int, k text, ${definitions(false)})`)
    await fill("keyless", random, 40, () => true)
    await reading.run(`CREATE MATERIALIZED VIEW kept AS SELECT * FROM keyless`)
    await reading.run(`CREATE TABLE parted (n int, k text, ${definitions(false)}) PARTITION BY LIST (k)`)
    await reading.run(`CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('k0', 'k1', 'k2')`)
    await reading.run(`CREATE TABLE parted_b PARTITION OF parted DEFAULT`)
    await fill("parted", random, 40, () => true)
    for (const name of ["keyless", "kept", "parted"]) await walksRight(name, random, null, 40)
  })

  it("shows each row of a view once, and equal rows as often as they occur", async () => {
    const random = randomFrom(4)
    await reading.run(
      `CREATE VIEW seen AS SELECT * FROM keyed WHERE n % 2 = 0 UNION ALL SELECT * FROM keyed WHERE n % 4 = 0`,
    )
    await walksRight("seen", random, null, 45)
    for (const limit of ["1", "2", "3", "7", "1000"]) {
      await reading.run(
        `CREATE OR REPLACE VIEW equal AS SELECT 'same' AS a, (g % 2)::int AS b FROM generate_series(1, 9) g`,
      )
      for (const params of [
        [],
        [["sort", "a"]],
        [
          ["sort", "b"],
          ["dir", "desc"],
        ],
      ] satisfies Array<ParamPairs>) {
        const { items } = await walk(reading, "equal", [...params, ["limit", limit]])
        expect(items.filter((item) => item === '{"a":"same","b":0}').length, limit).toBe(4)
        expect(items.filter((item) => item === '{"a":"same","b":1}').length, limit).toBe(5)
      }
    }
  })

  it("shows each row once of a foreign table and of a partitioned table with a foreign partition", async () => {
    const { database } = reading
    await reading.run(`CREATE TABLE far_rows AS SELECT g AS n, g % 3 AS k FROM generate_series(1, 20) g`)
    await database.run(`CREATE EXTENSION postgres_fdw SCHEMA ext`)
    await database.run(
      `CREATE SERVER self FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${database.socketDir}', dbname '${database.name}')`,
    )
    await database.run(
      `CREATE USER MAPPING FOR PUBLIC SERVER self OPTIONS (user '${reading.authorRole}', password_required 'false')`,
    )
    await database.run(
      `CREATE FOREIGN TABLE public.far (n int, k int) SERVER self OPTIONS (schema_name 'public', table_name 'far_rows')`,
    )
    await database.run(`CREATE TABLE public.mixed (n int, k int) PARTITION BY LIST (k)`)
    await database.run(
      `CREATE FOREIGN TABLE public.mixed_far PARTITION OF public.mixed FOR VALUES IN (0, 1, 2) SERVER self OPTIONS (schema_name 'public', table_name 'far_rows')`,
    )
    await database.run(`CREATE TABLE public.mixed_near PARTITION OF public.mixed DEFAULT`)
    await database.run(`INSERT INTO public.mixed_near VALUES (21, 9), (21, 9)`)
    await database.run(`GRANT SELECT ON public.far, public.mixed TO "${reading.readerRole}"`)
    const all = Array.from({ length: 20 }, (_, index) => index + 1)
    for (const params of [
      [],
      [["sort", "k"]],
      [
        ["sort", "k"],
        ["dir", "desc"],
      ],
    ] satisfies Array<ParamPairs>) {
      const far = numbers((await walk(reading, "far", [...params, ["limit", "6"]])).items)
      expect([...far].sort((a, b) => a - b)).toEqual(all)
      const mixed = numbers((await walk(reading, "mixed", [...params, ["limit", "6"]])).items)
      expect([...mixed].sort((a, b) => a - b)).toEqual([...all, 21, 21])
    }
  })

  it("uses the physical position of rows if a table has neither key nor sort, across many blocks in both directions", async () => {
    await reading.run(`CREATE TABLE lying (n int, filler text)`)
    await reading.run(`INSERT INTO lying SELECT g, repeat('x', 700) FROM generate_series(1, 900) g`)
    await reading.run(`DELETE FROM lying WHERE n BETWEEN 200 AND 500`)
    const expected = (await reading.run(`SELECT n FROM lying ORDER BY ctid`)).map((row) => Number(row["n"]))
    for (const limit of ["1000", "97", "13"]) {
      expect(
        numbers(
          (
            await walk(reading, "lying", [
              ["limit", limit],
              ["col", "n"],
            ])
          ).items,
        ),
      ).toEqual(expected)
      expect(
        numbers(
          (
            await walk(reading, "lying", [
              ["limit", limit],
              ["col", "n"],
              ["dir", "desc"],
            ])
          ).items,
        ),
      ).toEqual([...expected].reverse())
    }
    expect(
      numbers(
        (
          await walk(reading, "lying", [
            ["fc", "n"],
            ["fo", "gt"],
            ["fv", "895"],
            ["limit", "2"],
          ])
        ).items,
      ),
    ).toEqual([896, 897, 898, 899, 900])
  })

  it("shows all rows of a table without columns, and finds none by a search", async () => {
    await reading.run(`CREATE TABLE bare ()`)
    await reading.run(`INSERT INTO bare SELECT FROM generate_series(1, 250)`)
    const { items, pages } = await walk(reading, "bare", [["limit", "100"]])
    expect([new Set(items), items.length, pages]).toEqual([new Set(["{}"]), 250, 3])
    expect((await walk(reading, "bare", [["q", "x"]])).items).toEqual([])
    expect(Result.getOrThrow(await reading.page("bare")).columns).toEqual([])
    await reading.run(`CREATE TABLE bare_heirs (n int) INHERITS (bare)`)
    await reading.run(`INSERT INTO bare_heirs VALUES (1)`)
    expect((await walk(reading, "bare", [["limit", "7"]])).items.length).toBe(251)
    expect(await reading.page("bare_heirs", [["hide", "n"]])).toMatchObject({ failure: { code: "bad_columns" } })
  })

  it("uses an oid key, even above 2^31", async () => {
    await reading.run(`CREATE TABLE handles (o oid PRIMARY KEY)`)
    await reading.run(`INSERT INTO handles VALUES (1), (2147483648), (4294967295)`)
    for (const [dir, order] of [
      ["asc", [1, 2_147_483_648, 4_294_967_295]],
      ["desc", [4_294_967_295, 2_147_483_648, 1]],
    ] as const) {
      const { items } = await walk(reading, "handles", [
        ["limit", "1"],
        ["sort", "o"],
        ["dir", dir],
      ])
      expect(items.map((item) => JSON.parse(item).o)).toEqual(order)
    }
    expect((await walk(reading, "handles", [["q", "2147"]])).items).toEqual(['{"o":2147483648}'])
  })

  it("is one empty page without rows", async () => {
    await reading.run(`CREATE TABLE void (n int)`)
    await reading.run(`CREATE TABLE void_keyed (n int PRIMARY KEY)`)
    for (const name of ["void", "void_keyed"]) expect(await walk(reading, name, [])).toEqual({ items: [], pages: 1 })
  })

  it("shows rows that exist throughout exactly once while other rows come and go", async () => {
    const random = randomFrom(5)
    await reading.run(`CREATE TABLE busy (n int PRIMARY KEY, k text, ${definitions(false)})`)
    await reading.run(`CREATE SEQUENCE churn START 1000`)
    await fill("busy", random, 80, () => true)
    for (const column of ["num", "icu", "tz", "js", "cit", "bool, tz"]) {
      for (const dir of ["asc", "desc"]) {
        const [first, second] = column.split(", ")
        let cursor: string | null = null
        const seen: Array<number> = []
        for (;;) {
          const params: ParamPairs = [
            ["sort", first!],
            ["dir", dir],
            ...(second === undefined
              ? []
              : ([
                  ["sort", second],
                  ["dir", dir === "asc" ? "desc" : "asc"],
                ] as const)),
            ["limit", "9"],
            ["col", "n"],
          ]
          const page = await reading.page("busy", cursor === null ? params : [...params, ["cursor", cursor]])
          if (page._tag === "Failure") throw page.failure
          seen.push(...numbers(page.success.items))
          const columns = COLUMNS.map(([name]) => `"${name}"`).join(", ")
          await reading.run(
            `INSERT INTO busy (n, k, ${columns}) SELECT nextval('churn'), k, ${columns} FROM busy WHERE n < 80 ORDER BY random() LIMIT 10`,
          )
          await reading.run(
            `UPDATE busy SET "${first}" = (SELECT "${first}" FROM busy ORDER BY random() LIMIT 1) WHERE n >= 80`,
          )
          await reading.run(`DELETE FROM busy WHERE n >= 80 AND random() < 0.5`)
          if (!page.success.hasMore) break
          cursor = page.success.nextCursor
        }
        expect(
          seen.filter((n) => n < 80).sort((a, b) => a - b),
          `${column} ${dir}`,
        ).toEqual(Array.from({ length: 80 }, (_, n) => n))
        await reading.run(`DELETE FROM busy WHERE n >= 80`)
      }
    }
  })
})
