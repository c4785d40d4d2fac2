import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { openCabinet, type Cabinet, verifyDelivery } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { testDatabase, withDatabase } from "../../../test/support/postgres.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet
const logged: Array<string> = []

beforeAll(async () => {
  cabinet = await openCabinet({
    databaseUrl: database.url,
    baseUrl: "http://shop.example/data",
    allowedNetworks: ["127.0.0.0/8"],
    log: { warn: (line) => logged.push(line), error: (line) => logged.push(line) },
  })
})
afterAll(() => cabinet.close())

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

it("openCabinet migrates an empty database and accepts the program's own events", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  expect(source.intakeUrl).toMatch(/^http:\/\/shop\.example\/data\/webhook\/[\w-]{20,}$/)
  const receipt = await cabinet.intake(source.id, { fields: { total: "12.50", count: 2 } })
  expect(receipt).toEqual({ id: expect.any(Number), duplicate: false, empty: false })
  const again = await cabinet.intake(source.id, { fields: { count: 2, total: "12.50" } })
  expect(again.duplicate).toBe(true)

  const { rows } = await cabinet.rows("sources.orders", { fc: ["count"], fo: ["eq"], fv: ["2"] })
  expect(rows).toEqual([{ _event_id: receipt.id, _received_at: expect.any(String), total: "12.50", count: 2 }])
})

it("feed yields every event once and continues from a stored cursor", async () => {
  const source = await cabinet.sources.create({ name: "Feed" })
  for (const n of [1, 2, 3]) await cabinet.intake(source.id, { fields: { n } })
  const seen = await collect(cabinet.feed({ sourceId: source.id, pageSize: 2 }))
  expect(seen.map(({ payload }) => payload["n"])).toEqual([1, 2, 3])
  expect(await collect(cabinet.feed({ sourceId: source.id, after: seen.at(-1)!.cursor }))).toEqual([])
  await cabinet.intake(source.id, { fields: { n: 4 } })
  const later = await collect(cabinet.feed({ sourceId: source.id, after: seen.at(-1)!.cursor }))
  expect(later.map(({ payload }) => payload["n"])).toEqual([4])
  const stored = seen[1]!.cursor
  const resumed = await collect(cabinet.feed({ sourceId: source.id, after: stored, pageSize: 2 }))
  expect(resumed.map(({ payload }) => payload["n"])).toEqual([3, 4])
})

it("export writes all rows of a selection, and stops when the reader leaves", async () => {
  await cabinet.sql(
    "CREATE TABLE public.amounts AS SELECT g AS n, g * 1.10 + 12345678901234567890 AS total, repeat('x', 1000) AS pad FROM generate_series(1, 20000) g",
  )
  const text = async (...words: Parameters<Cabinet["export"]>) =>
    Buffer.concat(await collect(cabinet.export(...words))).toString()
  const few = { fc: "n", fo: "le", fv: 2, col: ["n", "total"] } as const
  expect(await text("public.amounts", few, { format: "csv" })).toBe(
    "n,total\r\n1,12345678901234567891.10\r\n2,12345678901234567892.20\r\n",
  )
  expect(await text("public.amounts", few, { format: "ndjson", live: true })).toBe(
    '{"n":1,"total":12345678901234567891.10}\n{"n":2,"total":12345678901234567892.20}\n',
  )
  const options = { format: "tsv", bom: true } as const
  expect((await text("public.amounts", {}, options)).split("\r\n")).toHaveLength(20_002)
  // As many as can run at once, so that a slot that was not freed would be noticed.
  for (let index = 0; index < 3; index++) {
    for await (const piece of cabinet.export("public.amounts", {}, options)) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
  }
  await expect(text("public.amounts", { sort: "nope" }, options)).rejects.toMatchObject({
    code: "unknown_column",
    param: "sort",
  })
  await expect(text("public.amounts", {}, { format: "csv", delimiter: "ab" })).rejects.toMatchObject({
    code: "bad_option",
    param: "delimiter",
  })
})

it("feed follows until its signal is aborted", async () => {
  const source = await cabinet.sources.create({ name: "Follow" })
  const stop = new AbortController()
  const seen: Array<unknown> = []
  const following = (async () => {
    for await (const event of cabinet.feed({ sourceId: source.id, follow: true, signal: stop.signal })) {
      seen.push(event.payload["n"])
      if (seen.length === 2) stop.abort()
    }
  })()
  await cabinet.intake(source.id, { fields: { n: 1 } })
  await cabinet.intake(source.id, { fields: { n: 2 } })
  await following
  expect(seen).toEqual([1, 2])
})

it("nodeHandler and fetchHandler serve the cabinet below the path of its base address", async () => {
  const source = await cabinet.sources.create({ name: "Mounted" })
  const { key } = await cabinet.keys.create({ name: "mounted" })
  const path = new URL(source.intakeUrl).pathname
  const server = createServer(cabinet.nodeHandler)
  const base = await listen(server)
  try {
    const posted = await fetch(base + path, { method: "POST", body: new URLSearchParams({ a: "1" }) })
    expect([posted.status, await posted.json()]).toEqual([
      200,
      { ok: true, id: expect.any(Number), duplicate: false, empty: false },
    ])
    const headers = { authorization: `Bearer ${key}` }
    const viaNode = await fetch(`${base}/data/api/v1/tables/sources/mounted/rows`, { headers })
    const viaFetch = await cabinet.fetchHandler(
      new Request("http://shop.example/data/api/v1/tables/sources/mounted/rows", { headers }),
    )
    expect([viaNode.status, viaFetch.status]).toEqual([200, 200])
    expect(await viaFetch.json()).toEqual(await viaNode.json())
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

it("addresses get signed deliveries of accepted events", async () => {
  const bodies: Array<{ body: string; signature: string }> = []
  let heard = () => {}
  const delivered = new Promise<void>((resolve) => (heard = resolve))
  const receiver = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      bodies.push({
        body: Buffer.concat(chunks).toString(),
        signature: String(request.headers["x-service-signature"]),
      })
      response.end()
      heard()
    })
  })
  const url = await listen(receiver)
  try {
    const source = await cabinet.sources.create({ name: "Told" })
    const address = await cabinet.addresses.create({ url: `${url}/hook`, sources: [source.id] })
    const { id } = await cabinet.intake(source.id, { fields: { total: "1.0" } })
    await delivered
    const [first] = bodies
    expect(verifyDelivery(first!.body, first!.signature, address.secret)).toBe(true)
    expect(verifyDelivery(`${first!.body} `, first!.signature, address.secret)).toBe(false)
    expect(JSON.parse(first!.body)).toMatchObject({ type: "event.received", data: { id, payload: { total: "1.0" } } })
    await cabinet.addresses.remove(address.id)
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
})

it("openCabinet rejects with a message when a setting is wrong or the database does not exist", async () => {
  await expect(openCabinet({ databaseUrl: database.url, timeZone: "Mars/Base" })).rejects.toThrow(/time zone/)
  const gone = database.url.replace(database.name, "no_such_database")
  await expect(openCabinet({ databaseUrl: gone })).rejects.toThrow(/There is no database at .*no_such_database/)
})

it("close ends everything, is safe to repeat, and later calls are refused", async () => {
  const own = await testDatabase({ empty: true })
  try {
    const sessions = async () => {
      const [row] = await database.run(`SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE datname = '${own.name}'`)
      return row!["n"]
    }
    const other = await openCabinet({ databaseUrl: own.url })
    await other.sources.list()
    expect(await sessions()).toBeGreaterThan(0)
    await other.close()
    await other.close()
    await expect.poll(sessions).toBe(0)
    await expect(other.sources.list()).rejects.toThrow("closed")
  } finally {
    await own.drop()
  }
  expect(logged).toEqual([])
})
