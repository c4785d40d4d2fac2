/**
 * How far a service of many cabinets, and one cabinet of very many events, go: what can be measured small is measured,
 * and the large is arithmetic from it, printed with the figures it was made of. docs/scale.md tells the results.
 *
 *   node --conditions=source test/bench/simulation.ts [--registered 10000] [--looked 1000] [--opened 12] [--events 20000]
 *     [--only many|one]
 *
 * CPU is counted by Linux for whole processes (see processCpu), so that it means something on a machine that is in use.
 */
import { readFileSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startCluster } from "./cluster.ts"
import { cabinetCommand, endContestants, ourServer, ourWorker } from "./contestant.ts"
import { processCpu } from "./processCpu.ts"

const { values } = parseArgs({
  options: {
    registered: { type: "string", default: "10000" },
    looked: { type: "string", default: "1000" },
    opened: { type: "string", default: "12" },
    events: { type: "string", default: "20000" },
    only: { type: "string" },
  },
})
const registered = Number(values.registered)
const looked = Number(values.looked)
const opened = Number(values.opened)
const events = Number(values.events)

const BILLION = 1_000_000_000
const DOMAIN = "cabinets.test"
const results: Record<string, unknown> = {}

const note = (name: string, value: unknown) => {
  results[name] = value
  process.stderr.write(`${name}: ${JSON.stringify(value)}\n`)
}

const rounded = (value: number, digits = 1) => Number(value.toFixed(digits))

/** Resident memory in kilobytes, after a moment for whatever was just done to settle. */
const residentKb = async (pid: number) => {
  await sleep(3000)
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1])
}

/** Memory of a process that it shares with nobody, in kilobytes; a database session's own. */
const privateKb = (pid: number) => {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  return ["Private_Clean", "Private_Dirty"].reduce(
    (sum, name) => sum + Number(new RegExp(`${name}:\\s+(\\d+)`).exec(rollup)![1]),
    0,
  )
}

const cluster = await startCluster()

const manyCabinets = async () => {
  const own = await cluster.database("own")
  const first = await cluster.database("cabinet_0")
  await (await ourServer(first, ["--no-delivery", "--no-poll"])).stop()
  const [size] = await cluster.run(first, "SELECT pg_database_size(current_database())::text AS bytes")
  note("bytes of an empty cabinet's database", Number(size!["bytes"]))
  const databases = [first]
  for (let n = 1; n < opened; n++) {
    const url = first.replace("/cabinet_0?", `/cabinet_${n}?`)
    await cluster.run(first.replace("/cabinet_0?", "/postgres?"), `CREATE DATABASE cabinet_${n} TEMPLATE cabinet_0`)
    databases.push(url)
  }

  const many = ["--service-domain", DOMAIN]
  const serve = () => ourServer(own, [...many, "--no-delivery", "--no-poll"])
  let server = await serve()
  const empty = await residentKb(server.pid)
  await server.stop()
  // Names beyond the real databases lead to the same few: what is measured is asking, not keeping.
  const list = databases.map((url) => `'${url}'`).join(",")
  await cluster.run(
    own,
    `INSERT INTO cabinet.served (name, database_url)
     SELECT 'c' || n, (ARRAY[${list}])[1 + n % ${opened}] || CASE WHEN n < ${opened} THEN '' ELSE '&n=' || n END
     FROM generate_series(0, ${registered - 1}) n`,
  )
  server = await serve()
  const full = await residentKb(server.pid)
  note("server with no cabinet registered, KB", empty)
  note(`server with ${registered} registered, KB`, full)
  note("KB a registered cabinet that nobody uses", rounded((full - empty) / registered, 2))

  const ask = (n: number) =>
    new Promise<void>((resolve, reject) => {
      const headers = { host: `c${n}.${DOMAIN}` }
      const sent = request({ host: "127.0.0.1", port: server.port, path: "/api/v1/sources", headers }, (answer) => {
        answer.resume()
        answer.on("end", resolve)
      })
      sent.on("error", reject)
      sent.end()
    })
  for (let n = 0; n < opened; n++) await ask(n)
  const inUse = await residentKb(server.pid)
  const sessions = await cluster.run(
    own.replace("/own?", "/cabinet_0?"),
    "SELECT pid, datname FROM pg_stat_activity WHERE datname LIKE 'cabinet\\_%' AND pid <> pg_backend_pid()",
  )
  note("KB of the server a cabinet in use", rounded((inUse - full) / opened))
  note("sessions a cabinet in use, at rest", rounded(sessions.length / opened))
  const sessionKb = sessions.map(({ pid }) => privateKb(Number(pid)))
  note("private KB a session", rounded(sessionKb.reduce((sum, kb) => sum + kb, 0) / Math.max(1, sessionKb.length)))
  await server.stop()

  await cluster.run(own, `DELETE FROM cabinet.served WHERE name !~ '^c[0-9]+$' OR substr(name, 2)::int >= ${looked}`)
  const count = async () =>
    Number(
      (
        await cluster.run(own, "SELECT sum(sessions)::int AS n FROM pg_stat_database WHERE datname LIKE 'cabinet\\_%'")
      )[0]!["n"],
    )
  const before = await count()
  const databaseCpu = cluster.cpu()
  const worker = await ourWorker(own, "ours", many)
  const began = processCpu(worker.pid)
  const since = Date.now()
  while ((await count()) - before < looked) await sleep(200)
  note("ms of worker CPU to look at an idle cabinet", rounded((processCpu(worker.pid) - began) / looked, 2))
  note("ms of PostgreSQL CPU to look at an idle cabinet", rounded((cluster.cpu() - databaseCpu) / looked, 2))
  note("looks a second, on this machine as it was", rounded((looked * 1000) / (Date.now() - since), 0))
  await worker.stop()
}

/** Levels of a B-tree above which nothing is, its root included, when a page leads to so many. */
const levels = (pages: number, fanOut: number) => 1 + Math.ceil(Math.log(Math.max(1, pages)) / Math.log(fanOut))

const oneCabinet = async () => {
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
  const originals = `(SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'cabinet.original'::regclass)`

  // Code that has not run a few thousand times yet costs several times what it does later.
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
  // What has arrived is in the log alone, and its place in the queue is used again.
  const attempts = `(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
    WHERE c.relname ~ '^attempt_' AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0)`
  note("bytes a delivery that has arrived", Math.round((await size(attempts)) / (events / 4)))
  await server.stop()
  receiver.close()
  receiver.closeAllConnections()
}

try {
  if (values.only !== "one") await manyCabinets()
  if (values.only !== "many") await oneCabinet()
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
} finally {
  await endContestants()
  await cluster.stop()
}
