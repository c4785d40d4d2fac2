/** The cost of the console: the table screen compared with the read behind it, and intake while screens follow it. */
import { get } from "node:http"
import { Pool } from "undici"
import { cabinetCommand, ourServer, postOne } from "../contestant.ts"
import { type Bench, divided, type Figure, type Goal, median, type Standing } from "../figure.ts"
import { load, type Measured } from "../load/load.ts"
import { orderJson, postRequest } from "../load/request.ts"
import { tell } from "../rounds.ts"
import { orders } from "./rows.ts"

/** The most streams that a server keeps open, and the most of one person. */
const STREAMS = 200
const STREAMS_OF_ONE = 10

type OurServer = Awaited<ReturnType<typeof ourServer>>

/** The token of a role that sees everything; it may make 300 requests a minute. */
const tokenOf = async (url: string, name: string): Promise<string> => {
  const { token } = (await cabinetCommand(url, "token", "add", name, "--role", "viewer")) as { token: string }
  return token
}

const SELECTION = "fc=city&fo=eq&fv=City%201&sort=placed_at&dir=desc&limit=100"
const SCREEN = `/console/tables/public/orders?${SELECTION}`
const READ = `/api/v1/tables/public/orders/rows?${SELECTION}`

const screens = async (bench: Bench, url: string, { port, key }: OurServer) => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
  const one = async (path: string, authorization: string) => {
    const began = performance.now()
    const { statusCode, body } = await pool.request({ path, method: "GET", headers: { authorization } })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`)
    return performance.now() - began
  }
  const all = { screen: [] as Array<number>, read: [] as Array<number> }
  const more: Array<number> = []
  for (let round = -1; round < bench.rounds; round++) {
    const token = await tokenOf(url, `Round ${round + 1}`)
    const [reads, shown]: [Array<number>, Array<number>] = [[], []]
    for (let time = 0; time < bench.sized(20, 150); time++) {
      reads.push(await one(READ, `Bearer ${key}`))
      shown.push(await one(SCREEN, `Bearer ${token}`))
    }
    // The first round only warms it up.
    if (round === -1) continue
    const [read, screen] = [median(reads), median(shown)]
    bench.say(`  ${round + 1} read ${read.toFixed(2)} ms, screen ${screen.toFixed(2)} ms`)
    all.read.push(read)
    all.screen.push(screen)
    more.push(screen - read)
  }
  await pool.close()
  const work = "the table screen of 100 rows, over its read"
  const goal: Goal = { work, goal: "≤ 5 ms", atMost: 5, ratios: more, cpuRatios: [] }
  const standings: ReadonlyArray<Standing> = [
    { contestant: "the read", value: median(all.read), unit: "ms" },
    { contestant: "the screen", value: median(all.screen), unit: "ms" },
  ]
  return { goal, standings }
}

/** Opens a stream and discards its events; resolves at the first one with a function that closes it. */
const follow = (port: number, token: string) =>
  new Promise<() => void>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" }
    const request = get({ port, host: "127.0.0.1", path: "/console/live", headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a stream was answered ${response.statusCode}`))
      response.resume()
      response.on("error", () => {})
      resolve(() => void request.destroy())
    })
    request.on("error", reject)
  })

const followed = async (bench: Bench, url: string, ours: OurServer) => {
  const { port, intakePath } = ours
  const count = bench.sized(20, STREAMS)
  const tokens: Array<string> = []
  for (let n = 0; n < count / STREAMS_OF_ONE; n++) tokens.push(await tokenOf(url, `Screen ${n}`))
  const requests = [postRequest(intakePath, "application/json", orderJson())]
  const intake = (warmUp: number, seconds: number) =>
    load({ port, connections: 64, rate: null, warmUp, seconds, requests }, ours, bench.cluster.cpu)
  const rounds = { alone: [] as Array<Measured>, followed: [] as Array<Measured> }
  const beside = async (kind: keyof typeof rounds) => {
    const open =
      kind === "alone" ? [] : Array.from({ length: count }, (_, n) => follow(port, tokens[n % tokens.length]!))
    const closes = await Promise.all(open)
    await bench.cluster.settle()
    const measured = await intake(bench.warmUp, bench.seconds)
    for (const close of closes) close()
    return measured
  }
  await intake(0, bench.runIn)
  for (let round = 0; round < bench.rounds; round++) {
    for (const kind of round % 2 === 0 ? (["alone", "followed"] as const) : (["followed", "alone"] as const)) {
      const measured = await beside(kind)
      rounds[kind].push(measured)
      tell(bench, round, kind, measured)
    }
  }
  const rates = (all: ReadonlyArray<Measured>) => all.map(({ rate }) => rate)
  const cpus = (all: ReadonlyArray<Measured>) => all.map(({ cpu }) => cpu.server + cpu.database)
  const goal: Goal = {
    work: `intake, one JSON, with ${count} open screens that follow it`,
    goal: "≥ 0.95 × without",
    atLeast: 0.95,
    ratios: divided(rates(rounds.followed), rates(rounds.alone)),
    cpuRatios: divided(cpus(rounds.alone), cpus(rounds.followed)),
  }
  const standings = (["alone", "followed"] as const).map((kind): Standing => ({
    contestant: kind === "alone" ? "intake alone" : `intake with ${count} open screens`,
    value: median(rates(rounds[kind])),
    unit: "requests/s",
    cpu: {
      server: median(rounds[kind].map(({ cpu }) => cpu.server)),
      database: median(rounds[kind].map(({ cpu }) => cpu.database)),
    },
  }))
  return { goal, standings }
}

export const consoleCost: Figure = {
  name: "console",
  title: "What the console costs",
  caption:
    "All are ours. One client asks in turn for 100 rows of the API and for the table screen that shows them, over one kept-alive connection. Then intake-json by itself, and while screens are open that are told of each event by a stream; the process that measures reads the streams, on the server's core.",
  measure: async (bench) => {
    const url = await bench.cluster.database("ours")
    await bench.cluster.run(url, ...orders(bench.sized(20_000, 200_000)))
    const ours = await ourServer(url)
    await cabinetCommand(url, "schema", "expose", "public")
    await postOne(ours)
    const shown = await screens(bench, url, ours)
    const live = await followed(bench, url, ours)
    await ours.stop()
    return { goals: [shown.goal, live.goal], standings: [...shown.standings, ...live.standings] }
  },
}
