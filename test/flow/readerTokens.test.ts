/** Access tokens of readers in the read API, with and without a list: anything outside the list does not exist for them. */
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: ApiCabinet
/** Another process of the same cabinet. */
let other: ApiCabinet
let key = ""
const places: Record<string, { readonly id: number; readonly secret: string; readonly table: string }> = {}

const issue = (only: ReadonlyArray<string> | null, expiresInSeconds: number | null = null) =>
  cabinet.run(AccessTokens.use((tokens) => tokens.issue({ name: "reader", role: "reader", only, expiresInSeconds })))

const refused = (path: string, token: string) =>
  Effect.runPromise(
    Effect.map(
      Effect.promise(() => cabinet.ask(path, token)),
      ({ status, json }) => [status, json.error?.code],
    ),
  )

const run = async (...statements: ReadonlyArray<string>) => {
  for (const statement of statements) await database.run(statement)
}

/** Every event that a reader gets in pages of two. */
const walk = async (token: string, from = "") => {
  const ids: Array<number> = []
  for (let cursor = from; ;) {
    const { json } = await cabinet.ask(`events?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`, token)
    ids.push(...json.data.map(({ id }: { readonly id: number }) => id))
    cursor = json.next_cursor
    if (!json.has_more) return { ids, cursor }
  }
}

beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  other = await apiCabinet(database.url)
  key = await cabinet.key()
  for (const name of ["orders", "salaries", "visits"]) {
    const { id, intakeSecret: secret, table } = await cabinet.source(name)
    places[name] = { id, secret, table: `sources/${table!.name}` }
    if (name === "orders") await cabinet.run(Sources.use((all) => all.change(id, { schema: '{"required":["none"]}' })))
    for (let n = 0; n < 5; n++) await cabinet.send(secret, `{"n":${n},"of":"${name}"}`)
  }
  await database.run("CREATE VIEW public.totals AS SELECT sum(n) AS total FROM sources.salaries")
  await database.run("GRANT SELECT ON public.totals TO PUBLIC")
})
afterAll(async () => {
  await cabinet.close()
  await other.close()
})

it("a reader without a list reads what a key reads, and manages nothing", async () => {
  const { token } = await issue(null)
  for (const path of ["sources", "tables", "events", `${places["salaries"]!.table.replace(/^/, "tables/")}/rows`]) {
    const [asToken, asKey] = [await cabinet.ask(path, token), await cabinet.ask(path, key)]
    expect(asToken.status).toBe(200)
    expect(asToken.text).toBe(asKey.text)
    expect(asToken.headers.get("x-ratelimit-remaining")).not.toBe(null)
  }
  const uploader = await cabinet.run(
    AccessTokens.use((tokens) => tokens.issue({ name: "u", role: "uploader", expiresInSeconds: null })),
  )
  expect(await refused("sources", uploader.token)).toEqual([401, "invalid_key"])
})

it("lists, the feed and names show only what a token lists", async () => {
  const { token, only } = await issue(["sources.orders", "public.totals"])
  const { orders, salaries } = places as Record<"orders" | "salaries", (typeof places)[string]>
  expect(only).toEqual(["public.totals", "sources.orders"])
  const names = async (path: string) => (await cabinet.ask(path, token)).json.data.map(({ name }: any) => name)
  expect(await names("sources")).toEqual(["orders"])
  expect(await names("tables")).toEqual(["totals", "orders"])
  expect((await cabinet.ask("tables/public/totals/rows", token)).json.data).toEqual([{ total: 10 }])
  expect((await cabinet.ask(`tables/${orders.table}/rows?q=orders`, token)).json.data).toHaveLength(5)
  // A view does not reveal its query either.
  const view = await cabinet.ask("tables/public/totals", token)
  expect(view.json.definition).toBe(null)
  expect(view.text).not.toContain("salaries")
  expect((await cabinet.ask("tables/public/totals", key)).json.definition).toContain("salaries")

  const missing = await cabinet.ask("tables/sources/nothing/rows?fc=n&fo=eq&fv=1", token)
  for (const path of [salaries.table, "sources/visits", "public/nothing", "cabinet/event", "pg_catalog/pg_class"]) {
    expect(await refused(`tables/${path}`, token)).toEqual([404, "no_such_table"])
    expect(await refused(`tables/${path}/rows?q=1`, token)).toEqual([404, "no_such_table"])
    const unlisted = await cabinet.ask(`tables/${path}/rows?fc=n&fo=eq&fv=1`, token)
    expect(unlisted.text.replace(path.split("/")[1]!, "nothing").replace(path.split("/")[0]!, "sources")).toBe(
      missing.text,
    )
  }
  for (const id of [salaries.id, 4711]) {
    expect(await refused(`sources/${id}`, token)).toEqual([404, "no_such_source"])
    expect(await refused(`events?source_id=${id}`, token)).toEqual([404, "no_such_source"])
  }
  const own = (await cabinet.ask(`events?source_id=${orders.id}`, token)).json.data
  expect((await cabinet.ask("events", token)).json.data).toEqual(own)
  expect(own).toHaveLength(5)
})

it("the description has examples of those sources alone that its reader may read", async () => {
  const { token } = await issue(["sources.orders"])
  const { orders, salaries } = places as Record<"orders" | "salaries", (typeof places)[string]>
  const examples = async (reader: string) => {
    const { webhooks } = (await cabinet.ask("openapi.json", reader)).json
    return webhooks["event.received"].post.requestBody.content["application/json"].examples as Record<string, any>
  }
  const own = await examples(token)
  expect(Object.keys(own)).toEqual([`source_${orders.id}`])
  expect(own[`source_${orders.id}`].value.data.payload).toEqual({ n: 1, of: "text" })
  const all = await examples(key)
  expect(Object.keys(all)).toContain(`source_${salaries.id}`)
  expect(all[`source_${salaries.id}`].value.data).toMatchObject({ source: { id: salaries.id }, payload: { n: 1 } })
})

it("no endpoint of the read API, in any form, shows anything that a token does not list", async () => {
  const { token } = await issue(["sources.orders"])
  const { orders, salaries } = places as Record<"orders" | "salaries", (typeof places)[string]>
  const { paths } = (await cabinet.ask("openapi.json", key)).json as { readonly paths: Record<string, object> }
  const reads = Object.keys(paths).filter(
    (path) => path.startsWith("/api/v1/") && "get" in paths[path]! && !path.endsWith("/docs"),
  )
  expect(reads.length).toBeGreaterThan(4)
  const filled = (path: string, { id, table }: (typeof places)[string]) =>
    path
      .replace("/api/v1/", "")
      .replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) => ({ schema: "sources", name: table.split("/")[1]! })[name] ?? String(id),
      )
  for (const path of reads) {
    for (const accept of ["application/json", "text/csv", "application/x-ndjson"]) {
      const own = await cabinet.ask(filled(path, orders), token, accept)
      expect([path, accept, own.status]).toEqual([path, accept, 200])
      expect(own.text).not.toContain("salaries")
      expect(own.text).not.toContain("visits")
      if (!path.includes("{")) continue
      const others = await cabinet.ask(filled(path, salaries), token, accept)
      expect([path, accept, others.status]).toEqual([path, accept, 404])
      expect(others.text).not.toContain('"n":')
    }
  }
})

it("a cursor of a narrowed reader skips none of its own events and shows none of others", async () => {
  const { token } = await issue(["sources.orders", "sources.visits"])
  const before = await walk(token)
  expect(before.ids).toHaveLength(10)
  const quiet = await cabinet.ask(`events?cursor=${before.cursor}`, token)
  const expected: Array<number> = []
  for (let n = 0; n < 12; n++) {
    const name = ["salaries", "orders", "salaries", "visits"][n % 4]!
    const { id } = await cabinet.send(places[name]!.secret, `{"later":${n}}`)
    if (name !== "salaries") expected.push(id)
  }
  // Events outside the list do not move a cursor.
  await cabinet.send(places["salaries"]!.secret, `{"last":1}`)
  const after = await walk(token, before.cursor)
  expect(after.ids).toEqual(expected)
  expect(quiet.json.next_cursor).toBe(before.cursor)
  const still = (await cabinet.ask(`events?cursor=${after.cursor}`, token)).json
  expect([still.data, still.has_more, still.next_cursor]).toEqual([[], false, after.cursor])
  // A key's cursor is valid as well: from there on, it shows only the listed sources.
  const start = (await cabinet.ask("events?limit=7", key)).json
  const seen = start.data.filter(({ source }: any) => source.name !== "salaries").map(({ id }: any) => id)
  expect([...seen, ...(await walk(token, start.next_cursor)).ids]).toEqual([...before.ids, ...expected])
})

it("a token lists sources by id and objects by oid, so a new object with an old name is not listed", async () => {
  await cabinet.source("leads").then(({ intakeSecret }) => cabinet.send(intakeSecret, `{"a":1}`))
  await run("CREATE TABLE public.old AS SELECT 1 AS a", "GRANT SELECT ON public.old TO PUBLIC")
  const { token, id } = await issue(["sources.leads", "public.old"])
  expect((await cabinet.ask("tables/public/old/rows", token)).json.data).toEqual([{ a: 1 }])
  await database.run("ALTER TABLE public.old RENAME TO renamed")
  expect((await cabinet.ask("tables/public/renamed/rows", token)).json.data).toEqual([{ a: 1 }])
  await run("CREATE TABLE public.old AS SELECT 2 AS secret", "GRANT SELECT ON public.old TO PUBLIC")
  expect(await refused("tables/public/old/rows", token)).toEqual([404, "no_such_table"])
  await database.run("DROP TABLE public.renamed")
  const all = await cabinet.run(Sources.use((sources) => sources.list))
  const leads = all.find(({ name }) => name === "leads")!
  await cabinet.run(Sources.use((sources) => sources.remove(leads.id, "drop")))
  const again = await cabinet.source("leads")
  await cabinet.send(again.intakeSecret, `{"secret":1}`)
  expect(again.table!.name).toBe("leads")
  expect(await refused("tables/sources/leads/rows", token)).toEqual([404, "no_such_table"])
  for (const path of ["sources", "tables"]) expect((await cabinet.ask(path, token)).json.data).toEqual([])
  // The events of a deleted source stay, as they do for a key.
  expect((await cabinet.ask("events", token)).json.data).toHaveLength(1)
  const listed = await cabinet.run(AccessTokens.use((tokens) => tokens.list({ after: 0, limit: 1_000 })))
  expect(listed.find((one) => one.id === id)!.only).toEqual([])
})

it("a token lists only sources in a copy of the database, where objects have other oids", async () => {
  const { token } = await issue(["sources.orders", "public.totals"])
  await database.run("UPDATE cabinet.access_token SET only_in = 'elsewhere' WHERE only_in IS NOT NULL")
  expect((await cabinet.ask("tables", token)).json.data.map(({ name }: any) => name)).toEqual(["orders"])
  expect(await refused("tables/public/totals/rows", token)).toEqual([404, "no_such_table"])
})

it("a revocation, an expiry and a changed list apply in every process at the next request", async () => {
  const { token, id } = await issue(["sources.orders"], 60)
  expect((await other.ask("sources", token)).status).toBe(200)
  await database.run(`UPDATE cabinet.access_token SET only_sources = '{}' WHERE id = ${id}`)
  expect((await other.ask("sources", token)).json.data).toEqual([])
  expect((await other.ask("events", token)).json.data).toEqual([])
  await database.run(`UPDATE cabinet.access_token SET expires_at = cabinet.now() WHERE id = ${id}`)
  expect((await other.ask("sources", token)).status).toBe(401)
  const revoked = await issue(["sources.orders"])
  expect((await other.ask("sources", revoked.token)).status).toBe(200)
  await cabinet.run(AccessTokens.use((tokens) => tokens.revoke(revoked.id)))
  for (const one of [cabinet, other]) expect((await one.ask("sources", revoked.token)).status).toBe(401)
  const all = await cabinet.run(AccessTokens.use((tokens) => tokens.list({ after: 0, limit: 1_000 })))
  expect(all.find((listed) => listed.id === revoked.id)!.lastUsedAt).not.toBe(null)
})
