import { Catalog } from "@data-cabinet/core/row/Catalog"
import { Option, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { postgresMajor } from "../../../../test/support/postgres.ts"
import { itemsOf, openReading, type Reading, walk } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
})
afterAll(() => reading.close())

const find = async (name: string, schema = "public") =>
  Option.getOrUndefined(await reading.runtime.runPromise(Catalog.use((catalog) => catalog.find(schema, name))))

const list = async () =>
  (await reading.runtime.runPromise(Catalog.use((catalog) => catalog.list))).map(
    ({ schema, name }) => `${schema}.${name}`,
  )

describe("PgCatalog", () => {
  it("describes a customer's table, view, matview and partitioned table", async () => {
    await reading.run(
      `CREATE TABLE orders (b text NOT NULL, a int, gone int, total numeric(10,2) DEFAULT 1, at timestamptz, PRIMARY KEY (b, a))`,
    )
    await reading.run(`ALTER TABLE orders DROP COLUMN gone`)
    await reading.run(`COMMENT ON TABLE orders IS 'Every order'`)
    await reading.run(`COMMENT ON COLUMN orders.total IS 'With tax'`)
    await reading.run(`CREATE VIEW order_totals AS SELECT sum(total) AS total FROM orders`)
    await reading.run(`CREATE MATERIALIZED VIEW order_days AS SELECT at::date AS day FROM orders`)
    await reading.run(`CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)`)
    await reading.run(`CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (100)`)
    await reading.run(`INSERT INTO parts SELECT generate_series(1, 9)`)
    await reading.run(`ANALYZE parts_1`)
    const orders = await find("orders")
    expect(orders?.detail).toEqual({
      schema: "public",
      name: "orders",
      kind: "table",
      source: null,
      comment: "Every order",
      rows_estimate: 0,
      columns: [
        { name: "b", type: "text", label: "b", comment: null },
        { name: "a", type: "integer", label: "a", comment: null },
        { name: "total", type: "numeric", label: "total", comment: "With tax" },
        { name: "at", type: "timestamp with time zone", label: "at", comment: null },
      ],
      key: ["b", "a"],
      definition: null,
    })
    expect(orders?.identity).toBe("key")
    const view = await find("order_totals")
    expect(view).toMatchObject({
      identity: "text",
      runsNoUserCode: false,
      detail: { kind: "view", key: [], rows_estimate: null },
    })
    expect(view?.detail.definition).toMatch(/SELECT sum\((orders\.)?total\) AS total\s+FROM public\.orders/)
    expect(await find("order_days")).toMatchObject({ identity: "place", detail: { kind: "matview", key: [] } })
    expect((await find("order_days"))?.detail.definition).toContain("FROM public.orders")
    expect(await find("parts")).toMatchObject({
      identity: "key",
      detail: { kind: "table", key: ["id"], rows_estimate: 9 },
    })
  })

  it("describes a source's table with its source and the fields' names as labels", async () => {
    const { database } = reading
    await database.run(
      `INSERT INTO cabinet.source (id, name, intake_secret, secret_hash, table_name) VALUES (7, 'Заказы', 's', 'h', 'orders')`,
    )
    await database.run(
      `INSERT INTO cabinet.field_column (source_id, position, field, name, type) VALUES (7, 1, 'Сумма', 'summa', 'numeric')`,
    )
    await database.run(
      `CREATE TABLE sources.orders (_event_id bigint PRIMARY KEY, _received_at timestamptz, summa numeric)`,
    )
    await database.run(`INSERT INTO sources.orders VALUES (1, '2026-01-01Z', 1.50), (2, '2026-01-02Z', 2)`)
    await database.run(`GRANT SELECT ON sources.orders TO "${reading.readerRole}", "${reading.authorRole}"`)
    const found = await find("orders", "sources")
    expect(found?.detail).toMatchObject({ source: { id: 7, name: "Заказы" }, key: ["_event_id"] })
    expect(found?.detail.columns.map(({ name, label }) => [name, label])).toEqual([
      ["_event_id", "_event_id"],
      ["_received_at", "_received_at"],
      ["summa", "Сумма"],
    ])
    const ids = async (...params: ReadonlyArray<readonly [string, string]>) =>
      itemsOf(await reading.page("orders", params, "sources")).map((row) => row["_event_id"])
    expect(await ids()).toEqual([2, 1])
    expect(await ids(["dir", "asc"])).toEqual([1, 2])
    expect(await ids(["sort", "_event_id"])).toEqual([1, 2])
  })

  it("shows only what the reader may select, and nothing of the service, the system or an extension", async () => {
    const { database } = reading
    await database.run(`CREATE EXTENSION pg_stat_statements SCHEMA public`)
    await database.run(`CREATE VIEW public.leak AS SELECT name FROM cabinet.api_key`)
    await database.run(`CREATE VIEW public.leak_of_leak AS SELECT * FROM public.leak`)
    await database.run(`CREATE VIEW public.clock AS SELECT cabinet.now() AS now`)
    await database.run(`CREATE TABLE public.before (id int)`)
    await database.run(`GRANT SELECT ON public.leak, public.leak_of_leak, public.clock TO "${reading.readerRole}"`)
    await reading.addSchema("mine")
    await reading.run(`CREATE TABLE mine.note (id int)`)
    const shown = await list()
    expect(shown).toContain("mine.note")
    expect(shown).toEqual([...shown].sort())
    for (const hidden of [
      "public.leak",
      "public.leak_of_leak",
      "public.clock",
      "public.before",
      "public.pg_stat_statements",
    ]) {
      expect(shown).not.toContain(hidden)
    }
    expect(shown.filter((name) => /^(cabinet|pg_|information_schema)/.test(name))).toEqual([])
    expect(await find("leak_of_leak")).toBeUndefined()
    expect(await find("api_key", "cabinet")).toBeUndefined()
    expect(await find("pg_class", "pg_catalog")).toBeUndefined()
    await database.run(`GRANT SELECT ON public.before TO "${reading.readerRole}"`)
    expect(await list()).toContain("public.before")
  })

  it("finds objects only by their exact names", async () => {
    await reading.run(`CREATE TABLE "Case ""x"" ё" (id int)`)
    expect((await find('Case "x" ё'))?.detail.name).toBe('Case "x" ё')
    for (const name of ['case "x" ё', "", "\0", "orders\0", "x".repeat(64), "orders; --", "ORDERS", "\ud800"]) {
      expect(await find(name), JSON.stringify(name)).toBeUndefined()
    }
  })

  it("does not take a parent's key for one of its children, or an unvalidated NOT NULL for a valid one", async () => {
    await reading.run(`CREATE TABLE parent (id int PRIMARY KEY)`)
    await reading.run(`CREATE TABLE heir () INHERITS (parent)`)
    await reading.run(`INSERT INTO parent VALUES (1)`)
    await reading.run(`INSERT INTO heir VALUES (1)`)
    expect(await find("parent")).toMatchObject({ identity: "place", detail: { key: ["id"] } })
    expect(itemsOf(await reading.page("parent"))).toEqual([{ id: 1 }, { id: 1 }])
    if (postgresMajor() < 18) return
    await reading.run(`CREATE TABLE unproven (id int PRIMARY KEY, n int)`)
    await reading.run(`INSERT INTO unproven VALUES (1, NULL), (2, 5)`)
    await reading.run(`ALTER TABLE unproven ADD CONSTRAINT filled NOT NULL n NOT VALID`)
    expect(
      (
        await walk(reading, "unproven", [
          ["sort", "n"],
          ["limit", "1"],
          ["col", "id"],
        ])
      ).items,
    ).toEqual(['{"id":2}', '{"id":1}'])
  })

  it("shows changes by DDL at the next request", async () => {
    await reading.run(`CREATE TABLE changing (id int PRIMARY KEY, a int)`)
    await reading.run(`INSERT INTO changing VALUES (1, 2)`)
    const next = async () => Result.getOrThrow(await reading.page("changing"))
    expect((await next()).items).toEqual(['{"id":1,"a":2}'])
    await reading.run(`ALTER TABLE changing ADD b text DEFAULT 'x'`)
    expect((await next()).items).toEqual(['{"id":1,"a":2,"b":"x"}'])
    await reading.run(`ALTER TABLE changing RENAME a TO c`)
    expect((await next()).items).toEqual(['{"id":1,"c":2,"b":"x"}'])
    await reading.run(`ALTER TABLE changing ALTER c TYPE timestamptz USING '2026-01-01Z'`)
    expect((await next()).items).toEqual(['{"id":1,"c":"2026-01-01T00:00:00Z","b":"x"}'])
    await reading.run(`COMMENT ON COLUMN changing.b IS 'new'`)
    expect((await next()).columns.at(-1)?.comment).toBe("new")
    await reading.run(`ALTER TABLE changing DROP COLUMN b`)
    expect((await next()).items).toEqual(['{"id":1,"c":"2026-01-01T00:00:00Z"}'])
    await reading.run(`CREATE TYPE shape AS (x int)`)
    await reading.run(`ALTER TABLE changing ADD s shape DEFAULT ROW(1)`)
    expect((await next()).items).toEqual(['{"id":1,"c":"2026-01-01T00:00:00Z","s":{"x":1}}'])
    await reading.run(`ALTER TYPE shape ADD ATTRIBUTE y timestamptz CASCADE`)
    expect((await next()).items).toEqual(['{"id":1,"c":"2026-01-01T00:00:00Z","s":{"x":1,"y":null}}'])
    await reading.run(`REVOKE SELECT ON changing FROM "${reading.readerRole}"`)
    expect(Result.getOrThrow(Result.flip(await reading.page("changing")))).toMatchObject({ code: "no_such_table" })
    await reading.run(`GRANT SELECT ON changing TO "${reading.readerRole}"`)
    expect((await next()).items.length).toBe(1)
    await reading.run(`DROP TABLE changing`)
    expect(Result.getOrThrow(Result.flip(await reading.page("changing")))).toMatchObject({
      code: "no_such_table",
      param: null,
    })
  })

  it("refuses a cursor whose order changed its type", async () => {
    await reading.run(`CREATE TABLE typed (id int PRIMARY KEY, a int NOT NULL)`)
    await reading.run(`INSERT INTO typed SELECT g, g FROM generate_series(1, 9) g`)
    const { nextCursor } = Result.getOrThrow(
      await reading.page("typed", [
        ["sort", "a"],
        ["limit", "2"],
      ]),
    )
    const again = () =>
      reading.page("typed", [
        ["sort", "a"],
        ["limit", "2"],
        ["cursor", nextCursor ?? ""],
      ])
    expect(itemsOf(await again()).map(({ id }) => id)).toEqual([3, 4])
    await reading.run(`ALTER TABLE typed ALTER a TYPE text`)
    expect(Result.getOrThrow(Result.flip(await again()))).toMatchObject({ code: "bad_cursor", param: "cursor" })
  })
})
