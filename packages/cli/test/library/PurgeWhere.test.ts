/** Erasure on request: everything sent about one person is gone, and everyone else's data stays. */
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet

beforeAll(async () => {
  cabinet = await openCabinet({ databaseUrl: database.url, baseUrl: "http://shop.example", delivery: false })
})
afterAll(() => cabinet.close())

const post = async (url: string, body: unknown) => {
  const headers = { "content-type": "application/json" }
  const sent = await cabinet.fetchHandler(new Request(url, { method: "POST", body: JSON.stringify(body), headers }))
  expect(sent.status).toBe(200)
}

/** The tables that contain a text anywhere. */
const tablesWith = async (text: string) => {
  const tables = await database.run(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('cabinet', 'sources')`,
  )
  const found: Array<unknown> = []
  for (const { name } of tables) {
    const [row] = await database.run(
      `SELECT EXISTS (SELECT FROM ${String(name)} t WHERE position('${text}' IN t::text) > 0
         OR position(encode('${text}', 'hex') IN t::text) > 0) AS there`,
    )
    if (row!["there"] === true) found.push(name)
  }
  return found
}

const ANN = "ann.erased@example.com"

it("purgeWhere counts first, then erases payloads, rows, originals and repeats of all sources, and nothing else", async () => {
  await cabinet.addresses.create({ url: "http://93.184.216.34/hook" })
  const orders = await cabinet.sources.create({ name: "Orders" })
  const letters = await cabinet.sources.create({ name: "Letters" })
  await post(orders.intakeUrl, { email: ANN, total: 5 })
  await post(orders.intakeUrl, { total: 5, email: ANN })
  await post(orders.intakeUrl, [
    { email: ANN, total: 7 },
    { email: "bob@example.com", total: 8 },
  ])
  await post(letters.intakeUrl, { email: ANN })
  await post(letters.intakeUrl, { email: "bob@example.com" })
  const filters = [{ fc: "email", fo: "eq", fv: ANN }] as const
  const all = { events: 3, repeats: 1, rows: 3, originals: 4, deliveries: 3 }

  expect(await cabinet.events.purgeWhere(filters, { dryRun: true })).toEqual(all)
  const dear = [...filters, { fc: "total", fo: "ge", fv: "6.5" }] as const
  const one = { events: 1, repeats: 0, rows: 1, originals: 1, deliveries: 1 }
  expect(await cabinet.events.purgeWhere(dear, { sourceId: orders.id, dryRun: true })).toEqual(one)
  expect((await tablesWith(ANN)).length).toBeGreaterThan(3)
  await expect(cabinet.events.purgeWhere([])).rejects.toMatchObject({ code: "bad_filter" })
  await expect(cabinet.events.purgeWhere(filters, { sourceId: 999 })).rejects.toMatchObject({ code: "no_such_source" })

  expect(await cabinet.events.purgeWhere(filters)).toEqual(all)
  expect(await tablesWith(ANN)).toEqual([])
  expect((await cabinet.rows("sources.orders", { col: "email" })).rows).toEqual([{ email: "bob@example.com" }])
  expect((await cabinet.rows("sources.letters", { col: "email" })).rows).toEqual([{ email: "bob@example.com" }])
  const feed: Array<readonly [unknown, boolean]> = []
  for await (const event of cabinet.feed({ follow: false })) feed.push([event.payload, event.deleted_at !== null])
  expect(feed.map(([payload, isDeleted]) => [Object.keys(payload as object).length, isDeleted])).toEqual([
    [0, true],
    [0, true],
    [0, true],
    [2, false],
    [0, true],
    [1, false],
  ])
  // The original of a batch goes with any of its events.
  expect((await cabinet.events.inspect(4))!.original).toBeNull()
  expect((await cabinet.events.inspect(6))!.original).not.toBeNull()
  expect(await cabinet.events.purgeWhere(filters)).toEqual({
    events: 0,
    repeats: 0,
    rows: 0,
    originals: 0,
    deliveries: 0,
  })
  const [act] = await database.run(
    `SELECT changes::text AS changes FROM cabinet.audit WHERE action = 'event.erase' ORDER BY id DESC LIMIT 1`,
  )
  expect(JSON.parse(String(act!["changes"]))).toEqual({ conditions: ["email eq"], continued: false })
})
