/**
 * What a source with many addresses costs those who send to it and read the feed: batches from several senders are
 * answered in time, the feed goes on, an accept costs as much as without addresses, and every delivery arrives.
 * `ADDRESSES` is for how many the batches are; `DELIVERED_ADDRESSES` × `DELIVERED_EVENTS` deliveries are awaited.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { type Cluster, startCluster } from "../bench/cluster.ts"
import { load, type Measured } from "../bench/load/load.ts"
import { orderJson, postRequest } from "../bench/load/request.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"

const ADDRESSES = Number(process.env["ADDRESSES"] ?? 20_000)
const DELIVERED_ADDRESSES = Number(process.env["DELIVERED_ADDRESSES"] ?? 100)
const DELIVERED_EVENTS = Number(process.env["DELIVERED_EVENTS"] ?? 20)
const COST_ROUNDS = Number(process.env["COST_ROUNDS"] ?? 12)
const COUNTS = [0, 1_000, 100_000]
const SENDERS = 8
const BATCH = 100
const ENV = { CABINET_API_RATE: "1000000", CABINET_INTAKE_RATE: "0", CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" }

vi.setConfig({ testTimeout: 7_200_000, hookTimeout: 300_000 })

let cluster: Cluster
let home: Home
beforeAll(async () => {
  cluster = await startCluster()
  home = newHome()
})
afterAll(async () => {
  await endAll()
  await cluster.stop()
})

interface Cabinet {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly run: (sql: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly command: (...args: ReadonlyArray<string>) => Promise<{ readonly id: number; readonly intake_path: string }>
}

const cabinetIn = async (name: string): Promise<Cabinet> => {
  const url = await cluster.database(name)
  const env = { ...ENV, DATABASE_URL: url }
  const command = async (...args: ReadonlyArray<string>) => {
    const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    return JSON.parse(stdout) as { readonly id: number; readonly intake_path: string }
  }
  return { url, env, run: (sql) => cluster.run(url, sql), command }
}

/** Adds addresses like the one that there is, which has a secret and a place to send to; its path is its number. */
const addAddresses = (cabinet: Cabinet, source: number, base: string, count: number) =>
  cabinet.run(`
    WITH made AS (
      INSERT INTO cabinet.address (url, secret, every_source)
      SELECT '${base}' || n, (SELECT min(secret) FROM cabinet.address), false FROM generate_series(1, ${count}) n RETURNING id
    ) INSERT INTO cabinet.address_source (address_id, source_id) SELECT id, ${source} FROM made`)

/** Answers every request; byte `place × events + number of its event` of `seen` counts it. */
const RECEIVER = `
const { parentPort, workerData: { seen, events } } = require("node:worker_threads")
const all = new Uint8Array(seen)
const server = require("node:http").createServer((request, response) => {
  let body = ""
  request.setEncoding("latin1").on("data", (text) => (body += text)).on("end", () => {
    const { n } = JSON.parse(body).data.payload
    if (events > 0) Atomics.add(all, (Number(request.url.slice(1)) - 1) * events + n, 1)
    response.writeHead(204).end()
  })
}).listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))`

const startReceiver = async (addresses: number, events: number) => {
  const seen = new SharedArrayBuffer(addresses * events)
  const worker = new Worker(RECEIVER, { eval: true, workerData: { seen, events } })
  const port = await new Promise<number>((resolve) => worker.once("message", resolve))
  return { base: `http://127.0.0.1:${port}/`, seen: new Uint8Array(seen), close: () => worker.terminate() }
}

const send = async (server: ServerProcess, path: string, first: number, count: number) => {
  const began = performance.now()
  const response = await fetch(server.baseUrl + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(Array.from({ length: count }, (_, n) => ({ n: first + n, order: orderJson() }))),
  })
  const text = await response.text()
  const { results } = JSON.parse(text) as { readonly results?: ReadonlyArray<{ readonly id: number }> }
  const ids = results?.map(({ id }) => id) ?? []
  return { status: response.status, text, millis: performance.now() - began, at: performance.now(), ids }
}

/** Reads the feed to the end of all that is sent, and notes when each event was first seen. */
const readFeed = async (server: ServerProcess, key: string, isOver: () => boolean) => {
  const headers = { "x-api-key": key, prefer: "wait=1" }
  const seen = new Map<number, number>()
  for (let cursor = "", isAtEnd = false; !isAtEnd;) {
    const wasOver = isOver()
    const from = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${server.baseUrl}/api/v1/events?limit=1000${from}`, { headers })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const page = JSON.parse(text) as {
      readonly data: ReadonlyArray<{ readonly id: number }>
      readonly next_cursor: string
    }
    for (const { id } of page.data) seen.set(id, performance.now())
    cursor = page.next_cursor
    isAtEnd = wasOver && page.data.length === 0
  }
  return seen
}

const shown = (millis: number) => `${Math.round(millis)} ms`

/** How long the slowest batch of all senders took, and how long after its answer the feed had the last event. */
const sendBatches = async (server: ServerProcess, key: string, path: string, first: number) => {
  let isOver = false
  const reading = readFeed(server, key, () => isOver)
  await sleep(1_000)
  const answers = await Promise.all(
    Array.from({ length: SENDERS }, (_, n) => send(server, path, first + n * BATCH, BATCH)),
  )
  await sleep(2_000)
  isOver = true
  const seen = await reading
  expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
  expect(new Set(answers.flatMap(({ ids }) => ids)).size).toBe(SENDERS * BATCH)
  return {
    longest: Math.max(...answers.map(({ millis }) => millis)),
    held: Math.max(...answers.flatMap(({ at, ids }) => ids.map((id) => seen.get(id)! - at))),
  }
}

it(`${SENDERS} senders of batches to ${ADDRESSES} addresses get a 200 each, and the feed goes on`, async () => {
  const cabinet = await cabinetIn("batches")
  const receiver = await startReceiver(0, 0)
  let server = await home.serve([], cabinet.env)
  const source = server.welcome.source!
  const key = server.welcome.key!.key
  const tell = (name: string, { longest, held }: { readonly longest: number; readonly held: number }) =>
    process.stdout.write(
      `${name}: the slowest of ${SENDERS} batches took ${shown(longest)}, the feed had all ${shown(held)} after\n`,
    )
  tell("no address, server just started", await sendBatches(server, key, source.intake_path, 0))
  tell("no address", await sendBatches(server, key, source.intake_path, 10_000))
  await server.stop("SIGTERM")
  await cabinet.command("address", "add", `${receiver.base}1`, "--source", String(source.id))
  await addAddresses(cabinet, source.id, receiver.base, ADDRESSES - 1)
  server = await home.serve([], cabinet.env)
  // The second time, 16 million deliveries are being written and sent meanwhile.
  for (const [name, first] of [
    [`${ADDRESSES} addresses, server just started`, 20_000],
    [`${ADDRESSES} addresses`, 30_000],
  ] as const) {
    const took = await sendBatches(server, key, source.intake_path, first)
    tell(name, took)
    expect(took.longest).toBeLessThan(2_000)
    expect(took.held).toBeLessThan(1_000)
  }
  await server.stop("SIGKILL")
  await receiver.close()
})

it("an accept costs the same whatever the number of addresses", async () => {
  const cabinet = await cabinetIn("cost")
  const server = await home.serve(["--no-delivery"], cabinet.env)
  const port = Number(new URL(server.baseUrl).port)
  const kinds = []
  for (const count of COUNTS) {
    const source = await cabinet.command("source", "add", `To ${count}`)
    if (kinds.length === 0) await cabinet.command("address", "add", "http://127.0.0.1:9/1")
    await cabinet.run("UPDATE cabinet.address SET every_source = false WHERE every_source")
    if (count > 0) await addAddresses(cabinet, source.id, "http://127.0.0.1:9/", count)
    const requests = [postRequest(source.intake_path, "application/json", orderJson())]
    await cabinet.run("VACUUM ANALYZE")
    kinds.push({ count, requests, costs: [] as Array<number> })
  }
  const measure = (requests: ReadonlyArray<string>) =>
    load(
      { port, requests, connections: 16, rate: null, warmUp: 0.5, seconds: 3 },
      { name: "accepts", pid: server.pid },
      cluster.cpu,
    )
  const cost = ({ cpu }: Measured) => cpu.server + cpu.database
  for (let round = 0; round <= COST_ROUNDS; round++) {
    for (let turn = 0; turn < kinds.length; turn++) {
      const kind = kinds[(turn + round) % kinds.length]!
      await cluster.settle()
      const measured = cost(await measure(kind.requests))
      // The first round warms up.
      if (round > 0) kind.costs.push(measured)
    }
  }
  await server.stop("SIGTERM")
  // What else the machine does only adds to a round.
  const least = kinds.map(({ costs }) => Math.min(...costs))
  const ratios = least.map((each) => each / least[0]!)
  const lines = kinds.map(
    ({ count }, n) => `${count} addresses ${Math.round(least[n]!)} µs, × ${ratios[n]!.toFixed(2)}`,
  )
  process.stdout.write(`CPU of an accept, server and database: ${lines.join("; ")}\n`)
  expect(Math.max(...ratios)).toBeLessThan(1.1)
})

it(`every one of ${DELIVERED_ADDRESSES} × ${DELIVERED_EVENTS} deliveries arrives`, async () => {
  const cabinet = await cabinetIn("delivered")
  const receiver = await startReceiver(DELIVERED_ADDRESSES, DELIVERED_EVENTS)
  const server = await home.serve([], cabinet.env)
  const source = server.welcome.source!
  await cabinet.command("address", "add", `${receiver.base}1`, "--source", String(source.id))
  await cabinet.run("UPDATE cabinet.address SET every_source = false")
  await cabinet.run("DELETE FROM cabinet.address_source")
  await addAddresses(cabinet, source.id, receiver.base, DELIVERED_ADDRESSES)
  const began = performance.now()
  for (let first = 0; first < DELIVERED_EVENTS; first += BATCH) {
    const { status, text } = await send(server, source.intake_path, first, Math.min(BATCH, DELIVERED_EVENTS - first))
    expect(status, text).toBe(200)
  }
  const arrived = () => receiver.seen.reduce((sum, count) => sum + Math.min(count, 1), 0)
  for (let before = -1, now = 0; now < receiver.seen.length && now > before;) {
    before = now
    for (let n = 0; n < 60 && now < receiver.seen.length; n++) {
      await sleep(1_000)
      now = arrived()
    }
    process.stdout.write(`${now} deliveries arrived after ${Math.round((performance.now() - began) / 1_000)} s\n`)
  }
  const repeated = receiver.seen.reduce((sum, count) => sum + Math.max(0, count - 1), 0)
  process.stdout.write(`${arrived()} deliveries arrived, ${repeated} of them again\n`)
  await server.stop("SIGTERM")
  await receiver.close()
  expect(arrived()).toBe(DELIVERED_ADDRESSES * DELIVERED_EVENTS)
})
