/** The cost of a registered, an opened and a checked cabinet in a service of many. */
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { ourServer, ourWorker } from "../contestant.ts"
import { processCpu } from "../processCpu.ts"
import { rounded, type Simulation } from "./simulation.ts"

const DOMAIN = "cabinets.test"

export interface Cabinets {
  /** How many names are known. */
  readonly registered: number
  /** How many a worker looks at. */
  readonly looked: number
  /** How many are used, each with its own database. */
  readonly opened: number
}

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

export const manyCabinets = async ({ cluster, note }: Simulation, { registered, looked, opened }: Cabinets) => {
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
  // Names beyond the real databases share the same few: the lookup is measured, not the storage.
  const list = databases.map((url) => `'${url}'`).join(",")
  await cluster.run(
    own,
    `INSERT INTO cabinet.registered_cabinet (name, database_url)
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

  await cluster.run(
    own,
    `DELETE FROM cabinet.registered_cabinet WHERE name !~ '^c[0-9]+$' OR substr(name, 2)::int >= ${looked}`,
  )
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
