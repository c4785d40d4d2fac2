/** The cost of accepting, storing, reading and delivering one event, and the totals for a billion of them. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { cabinetCommand, ourServer } from "../contestant.ts"
import { processCpu } from "../processCpu.ts"
import { rounded, type Simulation } from "./simulation.ts"

const BILLION = 1_000_000_000

/** Levels of a B-tree above which nothing is, its root included, when a page leads to so many. */
const levels = (pages: number, fanOut: number) => 1 + Math.ceil(Math.log(Math.max(1, pages)) / Math.log(fanOut))

export const oneCabinet = async ({ cluster, note }: Simulation, events: number) => {
  const url = await cluster.database("one")
  let arrived = 0
  const receiver = createServer((incoming, answer) => {
    incoming.resume()
    incoming.on("end", () => {
      arrived++
      answer.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve))
  const server = await ourServer(url, ["--allowed-networks", "127.0.0.0/8"])
  const base = `http://127.0.0.1:${server.port}`
  let last = 0
  const order = () =>
    JSON.stringify({
      order: String(++last).padStart(12, "0"),
      customer: "Ada Lovelace",
      email: "ada@example.com",
      city: "Würzburg",
      total: 1249.5,
      currency: "EUR",
      paid: true,
      items: 3,
      placed_at: "2026-11-21T10:15:30Z",
      note: "Please ring twice, the bell is broken",
      channel: "web-shop",
    })
  const sixteenAtOnce = async (count: number, ask: () => Promise<Response>) => {
    let left = count
    const one = async () => {
      while (left-- > 0) {
        const answer = await ask()
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
        await answer.arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: 16 }, one))
  }
  const send = (count: number, body: () => string) => {
    const headers = { "content-type": "application/json" }
    return sixteenAtOnce(count, () => fetch(`${base}${server.intakePath}`, { method: "POST", headers, body: body() }))
  }
  /** Microseconds of CPU a unit, of the server and of PostgreSQL. */
  const cost = async (name: string, units: number, work: () => Promise<void>) => {
    const [own, database] = [processCpu(server.pid), cluster.cpu()]
    await work()
    const microseconds = (used: number) => Math.round((used * 1000) / units)
    note(`µs of CPU ${name}`, {
      server: microseconds(processCpu(server.pid) - own),
      postgresql: microseconds(cluster.cpu() - database),
    })
  }
  const size = async (expression: string) =>
    Number((await cluster.run(url, "VACUUM ANALYZE", `SELECT (${expression})::text AS n`))[0]!["n"])
  const originals = `(SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'cabinet.original_request'::regclass)`

  // Code costs several times as much until it has run a few thousand times.
  await send(Math.min(5000, events), order)
  const before = await size(originals)
  const singles = Math.round(events / 4)
  await cost("an event, sent alone", singles, () => send(singles, order))
  note("bytes an original request of a small event", Math.round(((await size(originals)) - before) / singles))
  await cost("an event, sent in batches of 100", events, () =>
    send(events / 100, () => `[${Array.from({ length: 100 }, order).join(",")}]`),
  )

  const total = last
  const tables = await cluster.run(
    url,
    `SELECT c.relname AS name, pg_relation_size(c.oid)::float8 + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0)::float8 AS bytes, c.relkind = 'i' AS index
     FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
     WHERE coalesce(i.indrelid, c.oid) IN ('cabinet.event'::regclass, 'sources.first_source'::regclass)`,
  )
  const parts = tables.map(({ name, bytes, index }) => {
    const each = Number(bytes) / total
    return {
      name,
      bytes_an_event: rounded(each),
      gb_a_billion: Math.round((each * BILLION) / 1e9),
      // A page above the leaves holds about as many entries as a leaf does: the keys are the same.
      ...(index === true
        ? { levels_at_a_billion: levels((each * BILLION) / 8192, Math.max(2, 8192 / Math.max(each, 12))) }
        : {}),
    }
  })
  note("one cabinet, stored", parts)
  note(
    "GB a billion events, with rows and indexes",
    parts.reduce((sum, part) => sum + part.gb_a_billion, 0),
  )

  const headers = { authorization: `Bearer ${server.key}` }
  const pages = 3000
  for (const [name, path] of [
    ["a page of 100 rows", "/api/v1/tables/sources/first_source/rows"],
    ["a page of 100 events", "/api/v1/events"],
  ] as const) {
    const read = () => sixteenAtOnce(pages, () => fetch(`${base}${path}`, { headers }))
    await read()
    await cost(name, pages, read)
  }

  const port = (receiver.address() as AddressInfo).port
  await cabinetCommand(url, "address", "add", `http://127.0.0.1:${port}/`, "--allowed-networks", "127.0.0.0/8")
  await cost("a delivery, its event sent in batches of 100", events / 4, async () => {
    const until = arrived + events / 4
    await send(events / 400, () => `[${Array.from({ length: 100 }, order).join(",")}]`)
    while (arrived < until) await sleep(50)
  })
  // A delivered delivery remains only in the log; its space in the queue is reused.
  const attempts = `(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
    WHERE c.relname ~ '^attempt_' AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0)`
  note("bytes a delivery that has arrived", Math.round((await size(attempts)) / (events / 4)))
  await server.stop()
  receiver.close()
  receiver.closeAllConnections()
}
