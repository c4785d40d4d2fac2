/**
 * A view that nothing in PostgreSQL can stop, read eight times concurrently, again and again, beside an honest cabinet on the
 * same server. The neighbour's intake and reads continue, the server stops on request, and its next start serves.
 * `UNSTOPPABLE_SECONDS` sets for how long.
 */
import { request } from "node:http"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"

const SECONDS = Number(process.env["UNSTOPPABLE_SECONDS"] ?? "30")

vi.setConfig({ testTimeout: (SECONDS + 600) * 1_000, hookTimeout: 900_000 })

const DOMAIN = "cabinets.test"
const env = { CABINET_SERVICE_DOMAIN: DOMAIN, CABINET_API_RATE: "1000000", CABINET_INTAKE_RATE: "0" }

/** XMLPARSE and XMLTABLE need no privilege. Counting this many nodes takes a quarter of an hour. */
const VIEW = `CREATE VIEW public.unstoppable AS SELECT t.c FROM
  (SELECT XMLPARSE(DOCUMENT '<a>' || repeat('<b/>', 3000) || '</a>') AS x OFFSET 0) d,
  XMLTABLE('/a' PASSING d.x COLUMNS c text PATH 'count(//b[count(//b[count(//b)>0])>0])') t`

interface Answer {
  readonly status: number
  readonly json: { readonly data?: ReadonlyArray<unknown>; readonly error?: { readonly code: string } }
}

let home: Home
let server: ServerProcess
let hostile: Cabinet
let honest: Cabinet

interface Cabinet {
  readonly host: string
  readonly key: string
  readonly intakePath: string
}

const ask = ({ host, key }: Cabinet, path: string, body?: object) =>
  new Promise<Answer>((resolve, reject) => {
    const headers = { host, "content-type": "application/json", "x-api-key": key }
    const method = body === undefined ? "GET" : "POST"
    const sent = request(new URL(path, server.baseUrl), { method, headers, agent: false }, (response) => {
      let text = ""
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode!, json: JSON.parse(text || "null") as Answer["json"] }),
      )
    })
    sent.on("error", reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })

const command = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout) as Record<string, string>
}

const newCabinet = async (name: string): Promise<Cabinet> => {
  await command("tenant", "add", name)
  const source = await command("source", "add", "Orders", "--cabinet", name)
  const key = await command("key", "add", "reader", "--cabinet", name)
  return { host: `${name}.${DOMAIN}`, key: key["key"]!, intakePath: source["intake_path"]! }
}

beforeAll(async () => {
  home = newHome()
  server = await home.serve([], env)
  hostile = await newCabinet("hostile")
  honest = await newCabinet("honest")
  const made = await home.cabinet(["sql", "--cabinet", "hostile"], env, VIEW)
  if (made.code !== 0) throw new Error(made.stderr)
})
afterAll(endAll)

const ROWS = "/api/v1/tables/sources/orders/rows?limit=1"

it("an unstoppable view costs its neighbour nothing, and the server still stops and starts", async () => {
  let isOver = false
  const refusals = new Map<string, number>()
  const crowd = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const { json } = await ask(hostile, "/api/v1/tables/public/unstoppable/rows")
      const code = json.error?.code ?? "none"
      refusals.set(code, (refusals.get(code) ?? 0) + 1)
    }
  })
  const end = performance.now() + SECONDS * 1_000
  let sent = 0
  const took = { intake: [] as Array<number>, read: [] as Array<number> }
  const timed = async (of: keyof typeof took, asked: Promise<Answer>) => {
    const began = performance.now()
    const answer = await asked
    took[of].push(performance.now() - began)
    return answer
  }
  try {
    while (performance.now() < end) {
      expect((await timed("intake", ask(honest, honest.intakePath, { total: (sent += 1) }))).status).toBe(200)
      const read = await timed("read", ask(honest, ROWS))
      expect(read.status, JSON.stringify(read.json)).toBe(200)
      // The view's own cabinet can still read its tables.
      expect((await ask(hostile, ROWS)).status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  } finally {
    isOver = true
  }
  await Promise.all(crowd)
  // The second message means that the database was too busy to confirm in time that it was asked to end the session.
  for (const code of refusals.keys()) expect(["query_timeout", "reader_off"]).toContain(code)
  expect(server.log()).toMatch(/unstoppable.* does not end: PostgreSQL was asked .* runs on/)
  expect(server.log()).not.toMatch(/unstoppable.*its session was terminated/)

  const stopping = performance.now()
  expect(await server.stop("SIGTERM")).toBe(0)
  const stopped = performance.now()
  expect(server.log()).toMatch(/did not end on request, so the server was stopped at once/)
  server = await home.serve([], env)
  expect((await ask(honest, honest.intakePath, { total: 0 })).status).toBe(200)
  const serving = performance.now()
  for (const [of, millis] of Object.entries(took)) {
    const sorted = millis.toSorted((one, other) => one - other).map(Math.round)
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]
    console.info(`the neighbour's ${of}: ${sorted.length}, median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`)
  }
  const seconds = [stopped - stopping, serving - stopped].map((millis) => (millis / 1_000).toFixed(1))
  console.info(
    `refused: ${JSON.stringify(Object.fromEntries(refusals))}; SIGTERM ${seconds[0]} s, next start ${seconds[1]} s`,
  )
  const { findings } = (await command("doctor", "--cabinet", "honest")) as unknown as {
    findings: ReadonlyArray<{ check: string; level: string }>
  }
  expect(findings.filter(({ check }) => check === "stuck reads" || check === "unstoppable")).toMatchObject([
    { check: "unstoppable", level: "ok" },
  ])
  await server.stop("SIGTERM")
})
