/** A database that vanishes without a word, as a machine that lost its power does: what was sent to it is never answered. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
let cabinet: ApiCabinet
const connected = new Set<Socket>()

/** Stands between the cabinet and its database. */
const proxy = createServer((near) => {
  const far = connect(`${database.socketDir}/.s.PGSQL.5432`)
  connected.add(near)
  near.pipe(far).pipe(near)
  near.on("error", () => far.destroy()).on("close", () => connected.delete(near))
  far.on("error", () => near.destroy())
})

/** Whoever is connected hears nothing any more; who comes later is served, as by the machine that took over. */
const vanish = () => {
  for (const near of connected) {
    near.unpipe()
    // Taken in and thrown away, so that its sender's system sees nothing wrong either.
    near.resume()
  }
}

beforeAll(async () => {
  database = await testDatabase()
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done))
  const url = new URL(database.url)
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  url.search = ""
  cabinet = await apiCabinet(url.toString(), { silence: "2 seconds" })
}, 60_000)
afterAll(async () => {
  await cabinet.close()
  proxy.close()
  await database.drop()
})

it("is answered for with 503, and found again under its name without a restart", async () => {
  const key = await cabinet.key()
  const source = await cabinet.source("Orders")
  const sent: Array<{ readonly ok: boolean; readonly id: number }> = []
  const send = async (n: number) => {
    const receipt = await cabinet.send(source.intakeSecret, `{"n":${n}}`)
    if (receipt.ok === true) sent.push(receipt)
    return receipt.ok === true ? 200 : 503
  }
  const ask = async () => [
    (await cabinet.ask("events?limit=1", key)).status,
    (await cabinet.ask("tables/sources/orders/rows?limit=1", key)).status,
  ]
  const both = async (n: number) => (await Promise.all([send(n), ask()])).flat()
  expect(await both(0)).toEqual([200, 200, 200])
  vanish()
  const first = await both(1)
  expect(first).toContain(503)
  let last = first
  for (let n = 2; last.some((status) => status !== 200); n++) {
    expect([...new Set(last)].filter((status) => status !== 200 && status !== 503)).toEqual([])
    last = await both(n)
  }
  const events = await cabinet.ask("events?limit=1000", key)
  const ids = events.json.data.map(({ id }: { id: number }) => id)
  expect(ids).toEqual(expect.arrayContaining(sent.map(({ id }) => id)))
})
