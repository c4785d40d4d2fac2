/** `cabinet listen`: a program on a developer's machine, which is sometimes down, gets the events of a source. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const VERIFY = new URL("../../packages/core/src/delivery/VerifyDelivery.ts", import.meta.url).href

/** A program that prints each verified delivery. */
const RECEIVER = `
import { createServer } from "node:http"
import { verifyDelivery } from ${JSON.stringify(VERIFY)}
createServer(async (request, response) => {
  const pieces = []
  for await (const piece of request) pieces.push(piece)
  const body = Buffer.concat(pieces)
  if (!verifyDelivery(body, request.headers["x-service-signature"], process.env.SECRET)) return response.writeHead(401).end()
  process.stdout.write(JSON.stringify({ headers: request.headers, body: body.toString() }) + "\\n", () => response.writeHead(204).end())
}).listen(Number(process.env.PORT), "127.0.0.1", () => process.stderr.write("ready"))
`

interface Delivered {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Told {
  readonly secret?: string
  readonly event_id: number
  readonly sent: boolean
  readonly status: number | null
  readonly failure: string | null
  readonly retry_in_ms: number | null
}

let home: Home
let server: ServerProcess
let source: number
const children = new Set<ChildProcess>()

beforeAll(async () => {
  home = newHome()
  server = await home.serve([], { DATABASE_URL: database.url })
  source = server.welcome.source!.id
}, 120_000)
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await endAll()
})

const send = async (body: object): Promise<number> => {
  const response = await fetch(server.baseUrl + server.welcome.source!.intake_path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly id: number }).id
}

const freePort = async (): Promise<number> => {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** A child's output by line; `until` resolves with the first line that matches. */
const linesOf = <A>(child: ChildProcess) => {
  children.add(child)
  const lines: Array<A> = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stdout! }).on("line", (line) => {
    lines.push(JSON.parse(line) as A)
    for (const look of waiting) look()
  })
  const until = (condition: (lines: ReadonlyArray<A>) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (!condition(lines)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { lines, until }
}

const receiver = async (secret: string, port: number) => {
  const env = { ...process.env, SECRET: secret, PORT: String(port) }
  const child = spawn(process.execPath, ["--input-type=module", "-e", RECEIVER], { env })
  const delivered = linesOf<Delivered>(child)
  const closed = once(child, "close")
  await once(child.stderr, "data")
  return { child, closed, ...delivered }
}

const killed = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve())
    child.kill("SIGKILL")
  })

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("exit", resolve)
    child.kill("SIGTERM")
  })

const listening = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const child = home.start(["listen", ...args, "--json"], env)
  const told = linesOf<Told>(child)
  let said = ""
  child.stderr!.on("data", (piece: Buffer) => (said += piece.toString()))
  const broke = once(child, "exit").then(() => Promise.reject(new Error(`listen ended: ${said}`)))
  await Promise.race([told.until((lines) => lines.length > 0), broke])
  broke.catch(() => {})
  return { child, ...told, secret: told.lines[0]!.secret! }
}

const idsOf = (all: ReadonlyArray<Delivered>) =>
  all.map(({ body }) => (JSON.parse(body) as { readonly data: { readonly id: number } }).data.id)

const WAYS: ReadonlyArray<readonly [name: string, () => readonly [ReadonlyArray<string>, Record<string, string>]]> = [
  ["the local database", () => [["First source"], { DATABASE_URL: database.url }]],
  [
    "a remote cabinet, by an API key",
    () => [[String(source), "--server", server.baseUrl], { CABINET_TOKEN: server.welcome.key!.key }],
  ],
]

it.each(WAYS)(
  "listen posts each new event of %s once, in order and signed, to a program that goes down twice",
  { timeout: 180_000 },
  async (name, way) => {
    const [args, env] = way()
    await send({ name, n: "before it listened" })
    const port = await freePort()
    const listener = await listening([...args, "--forward-to", `http://localhost:${port}/hook`], env)
    const wanted = [await send({ name, n: 1 }), await send({ name, n: 2 })]
    await listener.until((lines) => lines.some(({ retry_in_ms }) => typeof retry_in_ms === "number"))
    const first = await receiver(listener.secret, port)
    // A program that is killed before it responds gets the event again, as with any delivery.
    await listener.until((lines) => lines.some((line) => line.event_id === wanted[1] && line.status === 204))
    await killed(first.child)
    wanted.push(await send({ name, n: 3 }))
    const repeat = await send({ name, n: 3 })
    const empty = await send({ name: "" })
    wanted.push(await send({ name, n: 4 }), await send({ name, n: 12.5 }))
    await listener.until((lines) => lines.some((line) => line.event_id === wanted[2] && line.retry_in_ms !== null))
    const second = await receiver(listener.secret, port)
    await listener.until((lines) => lines.some((line) => line.event_id === wanted[4] && line.status === 204))
    expect(await ended(listener.child)).toBe(0)
    await killed(second.child)
    await Promise.all([first.closed, second.closed])
    expect([...idsOf(first.lines), ...idsOf(second.lines)]).toEqual(wanted)
    const left = listener.lines.slice(1).filter(({ sent }) => !sent)
    expect(left.map(({ event_id }) => event_id)).toEqual([repeat, empty])
    const { headers, body } = second.lines[2]!
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "DataCabinet/1",
      "x-service-event": "event.received",
      "webhook-id": headers["x-service-delivery"],
    })
    const key = server.welcome.key!.key
    const feed = await fetch(`${server.baseUrl}/api/v1/events?limit=1000`, { headers: { "x-api-key": key } })
    const item = `{"id":${wanted[4]},`
    const text = await feed.text()
    const shown = text.slice(text.indexOf(item)).split(/,\{"id":|\],"has_more"/)[0]!
    expect(body.endsWith(`"source":{"id":${source},"name":"First source"},"data":${shown}}`)).toBe(true)
  },
)

it("listen posts the events since a time again, and with --resend a single event", { timeout: 120_000 }, async () => {
  const all = [await send({ n: "since" }), await send({ n: "since then" })]
  const port = await freePort()
  const env = { DATABASE_URL: database.url }
  const url = `http://127.0.0.1:${port}/hook`
  const listener = await listening([String(source), "--forward-to", url, "--since", "1h"], env)
  const program = await receiver(listener.secret, port)
  await listener.until((lines) => lines.some((line) => line.event_id === all[1] && line.status === 204))
  expect(idsOf(program.lines).slice(-2)).toEqual(all)
  expect(await ended(listener.child)).toBe(0)
  await killed(program.child)
  const secretFile = join(home.dir, "secret")
  writeFileSync(secretFile, "whsec_b3du\n")
  const resend = (id: number) => {
    const args = ["listen", String(source), "--forward-to", url, "--resend", String(id), "--secret-file", secretFile]
    return home.cabinet(args, env)
  }
  const away = await resend(all[0]!)
  expect(away).toMatchObject({ code: 1, stderr: `Event ${all[0]} was not received: the connection was refused.\n` })
  expect(await resend(999_999)).toMatchObject({ code: 1, stderr: "Event 999999 does not exist.\n" })
  const again = await receiver("whsec_b3du", port)
  const posted = await resend(all[0]!)
  expect(posted.stdout).toMatch(
    new RegExp(`^Signing secret: whsec_b3du\n\\S+ {2}event ${all[0]} {2}POST {2}204 {2}\\d+ ms\n$`),
  )
  expect(posted.code).toBe(0)
  expect(idsOf(again.lines)).toEqual([all[0]])
  await killed(again.child)
})

it("listen changes nothing on the server, and refuses an invalid address", async () => {
  const env = { DATABASE_URL: database.url }
  expect(JSON.parse((await home.cabinet(["address", "list", "--json"], env)).stdout)).toEqual([])
  const wrong = await home.cabinet(["listen", "1", "--forward-to", "localhost:3000"], env)
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain("--forward-to: ")
  expect((await home.cabinet(["listen", "1"], env)).code).toBe(2)
})
