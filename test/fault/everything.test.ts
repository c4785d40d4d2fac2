/**
 * Everything at once at half of the capacity: senders, readers of rows and of the feed, clients that follow, deliveries,
 * imports, a console and a backup. No request takes more than a second, and no work holds the server's event loop for more
 * than 50 ms, beyond the time for which the machine withheld its cores from the generators too. The capacity is measured
 * just before, of everything at once: alone, each kind would have the cores to itself. `EVERYTHING_SECONDS` sets how long.
 */
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { load, type Measured } from "../bench/load/load.ts"
import { getRequest, orderJson, postRequest } from "../bench/load/request.ts"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const SECONDS = Number(process.env["EVERYTHING_SECONDS"] ?? "10")
const SHORT_SECONDS = Math.min(SECONDS, 30)
/** Half of the capacity. */
const SHARE = 1 / 2
const FILE_ROWS = 20_000
const FOLLOWERS = 5
const MOST_MILLIS = 1_000
const MOST_HELD_MILLIS = 50
/** If the generators, which only write and read, were held for longer, a figure would be the machine's. */
const MOST_LATE_MILLIS = 100

const ENV = { CABINET_API_RATE: "1000000", CABINET_INTAKE_RATE: "0", CABINET_ALLOWED_NETWORKS: "127.0.0.0/8" }

vi.setConfig({ testTimeout: (SECONDS + 400) * 1_000, hookTimeout: 120_000 })

/** Notes how long the server's event loop was held, twice a second. */
const NOTED = (file: string): string => `
import { appendFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"
const delay = monitorEventLoopDelay({ resolution: 1 })
if (isMainThread && process.argv.includes("serve")) {
  delay.enable()
  setInterval(() => {
    appendFileSync(${JSON.stringify(file)}, JSON.stringify({ at: Date.now(), held: delay.max / 1e6 }) + "\\n")
    delay.reset()
  }, 500).unref()
}`

let home: Home
let receiver: Receiver
let server: ServerProcess
let loopFile: string
beforeAll(async () => {
  home = newHome()
  receiver = await startReceiver()
  loopFile = join(home.dir, "loop")
  server = await home.serve([], {
    ...ENV,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NOTED(loopFile))}`,
  })
})
afterAll(async () => {
  await server.stop("SIGTERM")
  await receiver.close()
  await endAll()
})

const command = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"], ENV)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout) as Record<string, string>
}

/** Repeats until `isOver`, with a pause after each; returns how long each took in milliseconds. */
const repeated = async (isOver: () => boolean, pause: number, work: (signal: AbortSignal) => Promise<Response>) => {
  const took: Array<number> = []
  while (!isOver()) {
    const began = performance.now()
    const answer = await work(AbortSignal.timeout(60_000))
    const text = await answer.text()
    expect(answer.status, text).toBeLessThan(300)
    took.push(performance.now() - began)
    await sleep(pause)
  }
  return took
}

const shown = (millis: number) => `${Math.round(millis)} ms`

it("no request waits for a second, whatever else the server does", async () => {
  const port = Number(new URL(server.baseUrl).port)
  const key = server.welcome.key!.key
  const authorized = { authorization: `Bearer ${key}` }
  const run = (what: string, request: string, connections: number, seconds: number, rate: number | null) =>
    load({ port, requests: [request], connections, rate, warmUp: 1, seconds }, { name: what, pid: server.pid }, () => 0)
  const kinds = {
    intake: postRequest(server.welcome.source!.intake_path, "application/json", orderJson()),
    rows: getRequest("/api/v1/tables/sources/first_source/rows?limit=100", key),
    feed: getRequest("/api/v1/events?limit=100", key),
  }
  type Kind = keyof typeof kinds
  const names = ["intake", "rows", "feed"] as const
  await run("first", kinds.intake, 16, 3, null)

  const files = await command("source", "add", "Files")
  const uploader = (await command("token", "add", "files", "--role", "uploader"))["token"]!
  const viewer = (await command("token", "add", "screens", "--role", "viewer"))["token"]!
  await command("address", "add", receiver.url)
  const lines = Array.from({ length: FILE_ROWS }, (_, n) => `${n},Ada Lovelace,ada${n}@example.com,Berlin,1249.50\n`)
  let round = 0
  const upload = (signal: AbortSignal) => {
    const form = new FormData()
    form.set("file", new Blob([`order,customer,email,city,total${round++}\n`, ...lines]), "orders.csv")
    const headers = { authorization: `Bearer ${uploader}` }
    return fetch(`${server.baseUrl}/upload/${files["id"]}`, { method: "POST", headers, body: form, signal })
  }
  const screen = (signal: AbortSignal) =>
    fetch(`${server.baseUrl}/console/tables/sources/first_source`, {
      headers: { authorization: `Bearer ${viewer}` },
      signal,
    })
  const cursors = Array.from({ length: FOLLOWERS }, () => "")
  const follow = (n: number, isOver: () => boolean) =>
    repeated(isOver, 0, async (signal) => {
      const path = `/api/v1/events?limit=1000${cursors[n] === "" ? "" : `&cursor=${encodeURIComponent(cursors[n]!)}`}`
      const answer = await fetch(server.baseUrl + path, { headers: { ...authorized, prefer: "wait=2" }, signal })
      const page = (await answer.clone().json()) as { readonly next_cursor: string }
      cursors[n] = page.next_cursor
      return answer
    })
  const backup = async (seconds: number) => {
    await sleep((seconds * 1_000) / 3)
    await command("backup", join(home.dir, "backup.tar"))
    rmSync(join(home.dir, "backup.tar"))
  }
  /** All kinds of work at once, at these rates or as fast as they are answered. */
  const everything = async (seconds: number, rateOf: (name: Kind) => number | null) => {
    const until = Date.now() + seconds * 1_000
    const isOver = () => Date.now() > until
    const beside = Promise.all([repeated(isOver, 500, screen), repeated(isOver, 5_000, upload)])
    const [measured, [screens, uploads]] = await Promise.all([
      Promise.all(names.map(async (name) => [name, await run(name, kinds[name], 32, seconds, rateOf(name))] as const)),
      beside,
      backup(seconds),
      ...cursors.map((_, n) => follow(n, isOver)),
    ])
    return { kinds: Object.fromEntries(measured) as Record<Kind, Measured>, screens, uploads }
  }
  /** Until nothing more is delivered. */
  const settled = async () => {
    for (let before = -1; before < receiver.received.length; await sleep(2_000)) before = receiver.received.length
  }

  const full = await everything(SHORT_SECONDS, () => null)
  await settled()
  const rates = Object.fromEntries(names.map((name) => [name, Math.floor(full.kinds[name].rate * SHARE)]))
  const alone: Record<string, Measured> = {}
  for (const name of names) {
    alone[name] = await run(name, kinds[name], 32, SHORT_SECONDS, rates[name]!)
    await settled()
  }
  const began = Date.now()
  const { kinds: together, screens, uploads } = await everything(SECONDS, (name) => rates[name]!)

  for (const name of names) {
    const [one, all] = [alone[name]!, together[name]!]
    console.info(
      `${name}: ${Math.round(all.rate)}/s, p99 ${shown(all.p99)} beside ${shown(one.p99)} alone, most ${shown(all.most)}`,
    )
  }
  console.info(
    `screens: most ${shown(Math.max(...screens))}; ${uploads.length} files of ${FILE_ROWS} rows: ${shown(Math.max(...uploads))}`,
  )
  const held = readFileSync(loopFile, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly at: number; readonly held: number })
    .filter(({ at }) => at > began)
  const longest = Math.max(...held.map((one) => one.held))
  const late = Math.max(...names.map((name) => together[name].late))
  console.info(`the event loop: held for ${shown(longest)} at most; the generators' own for ${shown(late)}`)
  await receiver.until((received) => received.length >= together.intake.done)
  const most = Math.max(...names.map((name) => together[name].most), ...screens)
  if (late > MOST_LATE_MILLIS) {
    throw new Error(
      `the machine withheld its cores from the generators for ${shown(late)}: measure when it has less else to do`,
    )
  }
  expect(most).toBeLessThan(MOST_MILLIS)
  expect(longest - late).toBeLessThan(MOST_HELD_MILLIS)
})
