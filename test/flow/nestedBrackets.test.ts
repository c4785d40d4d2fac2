/** A sender of a whole tree as a form fills one column of JSON, once its source nests brackets. */
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type IntakeCabinet, intakeCabinet, payloadText } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
beforeAll(async () => {
  cabinet = await intakeCabinet(database.url)
})
afterAll(() => cabinet.close())

/** 30 deals as amoCRM sends them. */
const DEALS = new URLSearchParams(
  Array.from({ length: 30 }, (_, n) =>
    ["id", "name", "price", "status_id"].map((field): [string, string] => [
      `leads[add][${n}][${field}]`,
      `${field} ${n}`,
    ]),
  ).flat(),
).toString()

it("Intake nests a form of 30 deals into one column, and as many columns as fields without the setting", async () => {
  const source = await cabinet.source("Deals", { nestBrackets: true })
  assert.isTrue(source.nestBrackets)
  const post = async (body: string) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    assert.strictEqual((await fetch(cabinet.address(source), { method: "POST", headers, body })).status, 200)
  }
  const columns = async () => {
    const found = await database.run(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = 'sources.deals'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    )
    return found.map(({ name, type }) => `${String(name)} ${String(type)}`)
  }
  await post(DEALS)
  assert.deepStrictEqual((await columns()).slice(2), ["leads jsonb"])
  const payload = JSON.parse(payloadText((await cabinet.feed(source.id))[0]!)) as { leads: { add: Array<object> } }
  assert.strictEqual(payload.leads.add.length, 30)
  assert.deepStrictEqual(payload.leads.add[29], {
    id: "id 29",
    name: "name 29",
    price: "price 29",
    status_id: "status_id 29",
  })
  const [row] = await database.run("SELECT leads->'add'->7->>'name' AS name FROM sources.deals")
  assert.strictEqual(row!["name"], "name 7")
  await cabinet.run(Sources.use((sources) => sources.change(source.id, { nestBrackets: false })))
  await post(DEALS)
  assert.strictEqual((await columns()).length, 2 + 1 + 120)
})
