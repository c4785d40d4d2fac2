/** `cabinet mcp` as a process that an agent starts: the protocol's official client, on a database and over `--server`. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { forged } from "../support/forged.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let home: Home
let server: ServerProcess
let intake: string
let token: string
let env: Record<string, string>
const open: Array<Client> = []

const ORDERS = { schema: "sources", name: "orders" }

const DIGITS = "1234567890123456789012345678901234567890"

beforeAll(async () => {
  home = newHome()
  env = { DATABASE_URL: database.url, CABINET_TIME_ZONE: "Europe/Berlin" }
  server = await home.serve([], env)
  const [source, issued] = [
    await home.cabinet(["source", "add", "Orders", "--get", "intake_url"], { ...env, BASE_URL: server.baseUrl }),
    await home.cabinet(["token", "add", "agent", "--role", "viewer", "--get", "token"], env),
  ]
  intake = source.stdout.trim()
  token = issued.stdout.trim()
  await send(`{"total":${DIGITS}}`)
})
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()))
  await endAll()
})

const send = async (body: string) => {
  const response = await fetch(intake, { method: "POST", body, headers: { "content-type": "application/json" } })
  expect(response.status).toBe(200)
}

const connect = async (args: ReadonlyArray<string>, own: Readonly<Record<string, string>>) => {
  const [command, ...rest] = home.commandLine(["mcp", ...args])
  const whole = Object.entries(home.environment(own)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const client = new Client({ name: "test", version: "1" })
  await client.connect(
    new StdioClientTransport({ command: command!, args: rest, env: Object.fromEntries(whole), cwd: home.dir }),
  )
  open.push(client)
  return client
}

const texts = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text)
}

it.each(["its database", "--server"])("an agent lists, reads and waits by %s", async (way) => {
  const client =
    way === "--server" ? await connect(["--server", server.baseUrl], { CABINET_TOKEN: token }) : await connect([], env)
  expect((await client.listTools()).tools).toHaveLength(8)
  expect((await texts(client, "about_cabinet"))[0]).toContain('"time_zone":"Europe/Berlin"')
  expect((await texts(client, "list_failing_addresses"))[1]).toBe('{"data":[],"has_more":false,"next_cursor":null}')
  expect((await texts(client, "list_tables"))[1]).toContain('"name":"orders"')
  const orders = { ...ORDERS, col: ["total"], sort: "total", dir: "desc" }
  expect(await texts(client, "read_rows", orders)).toEqual([
    expect.stringContaining("from outside"),
    expect.stringContaining(`{"data":[{"total":${DIGITS}}`),
  ])
  expect(await texts(client, "read_rows", { ...orders, fc: ["x"], fo: ["eq"], fv: ["1"] })).toEqual([
    expect.stringMatching(/may quote data that came from outside/),
    expect.stringContaining("(unknown_column)"),
  ])
  expect((await texts(client, "summarize_rows", { ...ORDERS, column: "total" }))[1]).toContain(`"greatest":${DIGITS},`)
  expect((await texts(client, "summarize_rows", { ...ORDERS, column: "x" }))[1]).toContain("(unknown_column)")
  const waiting = texts(client, "wait_for_events", { from: "now", seconds: 50 })
  // Nothing tells from outside when it waits.
  const isOver = () => Promise.race([waiting.then(() => true), sleep(500, false)])
  while (!(await isOver())) await send('{"total":1,"is":"new"}')
  expect((await waiting)[1]).toContain('"payload":{"total":1,"is":"new"}')
  // A cancelled call ends, and the server continues.
  const leave = new AbortController()
  const cancelled = client.callTool({ name: "wait_for_events", arguments: { from: "now" } }, undefined, leave)
  setTimeout(() => leave.abort(), 300)
  await expect(cancelled).rejects.toThrow()
  await client.ping()
})

it("the server's refusal of a remote call is the tool's result", async () => {
  const client = await connect(["--server", server.baseUrl], { CABINET_TOKEN: forged(token, token.length - 4) })
  const { isError, content } = await client.callTool({ name: "list_tables" })
  expect([isError, JSON.stringify(content)]).toEqual([
    true,
    expect.stringContaining("The server refused the access token"),
  ])
})

it("malformed lines are refused one by one, and the command ends with its input", async () => {
  const ping = '{"jsonrpc":"2.0","id":"a","method":"ping"}'
  const wait =
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait_for_events","arguments":{"from":"now","seconds":50}}}'
  const input = ["{", `["${"x".repeat(70_000)}"]`, "", `[${ping}]`, '{"jsonrpc":"2.0","method":"x"}', wait, ping].join(
    "\n",
  )
  const began = performance.now()
  const { code, stdout, stderr } = await home.cabinet(["mcp"], env, input)
  expect([code, stderr]).toEqual([0, ""])
  expect(performance.now() - began).toBeLessThan(40_000)
  const messages = stdout.trimEnd().split("\n")
  expect(
    messages.map((one) => (JSON.parse(one) as { readonly error?: { readonly code: number } }).error?.code),
  ).toEqual([-32_700, -32_600, -32_600, undefined, undefined])
  expect(stdout).toContain('{"jsonrpc":"2.0","id":"a","result":{}}')
  expect(stdout).toContain("The input has ended")
})
