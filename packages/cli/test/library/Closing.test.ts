import { once } from "node:events"
import { createServer, request, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { type Cabinet, CabinetError, openCabinet } from "data-cabinet"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

let database: TestDatabase
let cabinet: Cabinet
let intakeUrl: string
let sourceId: number

beforeEach(async () => {
  database = await testDatabase({ empty: true })
  cabinet = await openCabinet({ databaseUrl: database.url, baseUrl: "http://shop.example/data", delivery: false })
  const source = await cabinet.sources.create({ name: "Closing" })
  sourceId = source.id
  intakeUrl = source.intakeUrl
})
afterEach(async () => {
  await cabinet.close()
  await database.drop()
})

/** A request whose body is sent in parts, so that it stays in flight as long as a test wants. */
const slowPost = async () => {
  const server = createServer(cabinet.nodeHandler)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const arrived = once(server, "request")
  const path = new URL(intakeUrl).pathname
  const sent = request({ port, path, method: "POST", headers: { "content-type": "application/json" } })
  const answered = once(sent, "response").then(async ([response]: Array<IncomingMessage>) => ({
    status: response!.statusCode,
    body: JSON.parse(await text(response!)) as unknown,
  }))
  sent.write('{"n":')
  await arrived
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port, path, sent, answered, stop }
}

it("close waits for requests in flight and refuses later ones", async () => {
  const { port, path, sent, answered, stop } = await slowPost()
  try {
    let closed = false
    const closing = cabinet.close().then(() => (closed = true))
    const late = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "a=1" })
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"])
    expect(await late.json()).toMatchObject({ ok: false, error: "unavailable" })
    const read = await cabinet.fetchHandler(new Request("http://shop.example/data/api/v1/sources"))
    expect([read.status, await read.json()]).toMatchObject([
      503,
      { error: { type: "unavailable", code: "reader_off" } },
    ])
    await expect(cabinet.sources.list()).rejects.toMatchObject({ code: "closed" })
    expect(closed).toBe(false)

    sent.end("1}")
    expect(await answered).toMatchObject({ status: 200, body: { ok: true, duplicate: false } })
    await closing
    expect(await database.run("SELECT count(*)::int4 AS n FROM cabinet.event")).toEqual([{ n: 1 }])
  } finally {
    stop()
  }
})

it("close aborts work that exceeds its grace period", async () => {
  const { sent, answered, stop } = await slowPost()
  const broken = once(sent, "error")
  const endless = new ReadableStream<Uint8Array>({ start: (control) => control.enqueue(new TextEncoder().encode("{")) })
  const viaFetch = cabinet.fetchHandler(
    new Request(intakeUrl, { method: "POST", body: endless, duplex: "half" } as RequestInit),
  )
  try {
    answered.catch(() => {})
    await cabinet.close({ graceMillis: 1 })
    const stopped = await viaFetch
    expect(stopped.status).toBe(503)
    expect(stopped.headers.get("retry-after")).toBe("1")
    expect(await stopped.json()).toMatchObject({ ok: false, error: "unavailable" })
    const [error] = (await broken) as ReadonlyArray<NodeJS.ErrnoException>
    expect(error!.code).toBe("ECONNRESET")
  } finally {
    stop()
  }
})

it("close waits for calls of the program, and an aborted call rejects as closed", async () => {
  const locker = await testLock()
  const waiting = cabinet.sql("SELECT pg_advisory_lock(4711)")
  await expect.poll(() => database.run(`${LOCKS} AND NOT granted`)).toEqual([{ n: 1 }])
  const rejected = waiting.catch((error: unknown) => error)
  await cabinet.close({ graceMillis: 1 })
  const error = await rejected
  expect(error).toBeInstanceOf(CabinetError)
  expect(error).toMatchObject({ code: "closed" })
  await locker.close()
})

/** Other tests take such locks in other databases of the server. */
const LOCKS = `SELECT count(*)::int4 AS n FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** A second cabinet on the same database, whose author holds a lock until it is closed. */
const testLock = async () => {
  const other = await openCabinet({ databaseUrl: database.url, delivery: false })
  const held = other.sql("SELECT pg_advisory_lock(4711); SELECT pg_sleep(600)").catch(() => undefined)
  await expect.poll(() => database.run(`${LOCKS} AND granted`)).toEqual([{ n: 1 }])
  return {
    close: async () => {
      await other.close({ graceMillis: 1 })
      await held
    },
  }
}

it("a followed feed ends when the cabinet closes, and a paged one rejects", async () => {
  for (const n of [1, 2, 3]) await cabinet.intake(sourceId, { fields: { n } })
  const seen: Array<unknown> = []
  const atEnd = Promise.withResolvers<void>()
  const following = (async () => {
    for await (const event of cabinet.feed({ follow: true })) {
      seen.push(event.payload["n"])
      if (seen.length === 3) atEnd.resolve()
    }
  })()
  const paged = cabinet.feed({ pageSize: 1 })[Symbol.asyncIterator]()
  await paged.next()
  await atEnd.promise
  await cabinet.close()
  await following
  expect(seen).toEqual([1, 2, 3])
  await expect(paged.next()).rejects.toMatchObject({ code: "closed" })
})

it("cabinets of one process share nothing: closing one leaves the other", async () => {
  const second = await testDatabase({ empty: true })
  try {
    const other = await openCabinet({ databaseUrl: second.url, baseUrl: "http://other.example", delivery: false })
    const { intakeUrl: otherUrl } = await other.sources.create({ name: "Other" })
    expect((await cabinet.sources.list()).map(({ name }) => name)).toEqual(["Closing"])
    await cabinet.close()
    const answer = await other.fetchHandler(
      new Request(otherUrl, { method: "POST", body: new URLSearchParams({ a: "1" }) }),
    )
    expect(answer.status).toBe(200)
    expect((await other.rows("sources.other", { col: "a" })).rows).toEqual([{ a: "1" }])
    await other.close()
  } finally {
    await second.drop()
  }
})
