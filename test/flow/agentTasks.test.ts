/**
 * Ten tasks that people give to agents, done by programs that know the tool list alone, through the protocol's official clients of
 * both generations. Each task names the sentence of the list that led to its calls, so that a word which misleads shows here. A
 * call that the listed schema does not allow fails the task. `npm run trials -- agents` runs it.
 */
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { afterAll, assert, beforeAll, describe, expect, it, vi } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"

const ORDERS = 120
const CUSTOMERS = ["Éva Bodnár", "Grace Hopper", "Annie Easley"]
const STATUSES = ["open", "paid", "refunded"]
/** Of October; no double has it. */
const OCTOBER = "2711000000000000000027.097"
const NOTE_CHARS = 9_000
const NOTES = 20

const database = withDatabase()
let server: ServerProcess
let token = ""
const paths: Record<string, string> = {}
afterAll(endAll)

/** Sends a body as its sender writes it: JSON.stringify has no number of 22 digits. */
const send = async (source: string, body: string) => {
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${server.baseUrl}${paths[source]}`, { method: "POST", headers, body })
  assert.equal(response.status, 200, await response.clone().text())
}

const order = (n: number): string =>
  JSON.stringify({
    number: `A-${1000 + n}`,
    customer: CUSTOMERS[n % 3],
    status: STATUSES[n % 3],
    placed_on: n < 27 ? `2026-10-${String((n % 27) + 1).padStart(2, "0")}` : "2026-09-30",
    total: 0,
  }).replace('"total":0', `"total":${n < 27 ? "100407407407407407408.411" : `${n}.10`}`)

beforeAll(async () => {
  const home = newHome()
  const env = {
    DATABASE_URL: database.url,
    CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
    CABINET_API_RATE: "100000",
    CABINET_INTAKE_RATE: "0",
    CABINET_TIME_ZONE: "Pacific/Auckland",
  }
  const made = async (...args: ReadonlyArray<string>) => {
    const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  server = await home.serve([], env)
  for (const name of ["Orders", "Notes"]) paths[name] = (await made("source", "add", name)).intake_path
  token = (await made("token", "add", "assistant", "--role", "viewer")).token
  await made("address", "add", "http://127.0.0.1:1/crm?token=hidden")
  for (let n = 0; n < ORDERS; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, index) => send("Orders", order(n + index))))
  }
  for (let n = 0; n < NOTES; n++) await send("Notes", JSON.stringify({ n, text: "x".repeat(NOTE_CHARS) }))
})

interface Tool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, any>>
    readonly required?: ReadonlyArray<string>
  }
}

/** What an agent's program needs of a client. */
interface Session {
  readonly tools: ReadonlyArray<Tool>
  readonly call: (name: string, args: Record<string, unknown>) => Promise<{ content: any; isError?: any }>
  readonly close: () => Promise<void>
}

const requestInit = () => ({ headers: { authorization: `Bearer ${token}` } })
const address = () => new URL(`${server.baseUrl}/mcp`)

const withHandshake = async (): Promise<Session> => {
  const client = new Client({ name: "assistant", version: "1" })
  await client.connect(new StreamableHTTPClientTransport(address(), { requestInit: requestInit() }) as Transport)
  const { tools } = await client.listTools()
  return {
    tools: tools as ReadonlyArray<Tool>,
    call: (name, args) => client.callTool({ name, arguments: args }) as ReturnType<Session["call"]>,
    close: () => client.close(),
  }
}

const stateless = async (): Promise<Session> => {
  const client = new StatelessClient(
    { name: "assistant", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  )
  await client.connect(new StatelessTransport(address(), { requestInit: requestInit() }))
  const { tools } = await client.listTools()
  return {
    tools: tools as ReadonlyArray<Tool>,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  }
}

const fits = (value: unknown, schema: any): boolean => {
  if (schema.anyOf !== undefined) return schema.anyOf.some((one: unknown) => fits(value, one))
  if (schema.type === "array") return Array.isArray(value) && value.every((item) => fits(item, schema.items))
  if (schema.enum !== undefined) return schema.enum.includes(value)
  if (schema.type === "integer") return Number.isInteger(value)
  return typeof value === "string" && (schema.format !== "date" || /^\d{4}-\d\d-\d\d$/.test(value))
}

/** The longest result: the bound on its items, and what stands around them. */
const MOST_CHARS = 66_000

describe.each([
  ["2025-11-25", withHandshake],
  ["2026-07-28", stateless],
] as const)("an agent of revision %s, with the tool list alone,", (_revision, open) => {
  let session: Session
  beforeAll(async () => {
    session = await open()
  })
  afterAll(() => session.close())

  /** Calls a tool because of what its description, or that of one of its parameters, says. */
  const use = async (name: string, because: RegExp, args: Record<string, unknown> = {}): Promise<any> => {
    const tool = session.tools.find((one) => one.name === name) ?? assert.fail(`there is no tool ${name}`)
    const { properties = {}, required = [] } = tool.inputSchema
    const words = [tool.description, ...Object.values(properties).map(({ description }) => description)].join("\n")
    assert.match(words, because, name)
    for (const key of required) assert.property(args, key)
    for (const [key, value] of Object.entries(args)) {
      assert.property(properties, key, name)
      assert.isTrue(fits(value, properties[key]), `${name} ${key} ${JSON.stringify(value)}`)
    }
    const { content, isError } = await session.call(name, args)
    const texts = (content as ReadonlyArray<{ readonly text: string }>).map(({ text }) => text)
    assert.isTrue(isError !== true, texts.join("\n"))
    assert.isBelow(texts.at(-1)!.length, MOST_CHARS)
    return { ...JSON.parse(texts.at(-1)!), text: texts.at(-1)! }
  }

  const orders = async () => {
    const { data } = await use("list_tables", /by schema and name, each with its kind, its source/)
    const { schema, name, source } = data.find((one: any) => one.source?.name === "Orders")
    return { table: { schema, name }, sourceId: source.id as number }
  }

  it("finds out what there is", async () => {
    const { data } = await use("list_tables", /readable tables and views/)
    expect(data.map(({ source }: any) => source.name)).toEqual(["First source", "Notes", "Orders"])
    const about = await use("about_cabinet", /What this cabinet is/)
    expect(about.about).toContain("list_failing_addresses")
  })

  it("finds a customer's order by a part of the name, whatever its case", async () => {
    const { table } = await orders()
    const { data } = await use("read_rows", /search in every column .* case-insensitive/, {
      ...table,
      q: "bodnár",
      limit: 3,
    })
    expect(data.map(({ customer }: any) => customer)).toEqual(["Éva Bodnár", "Éva Bodnár", "Éva Bodnár"])
    const one = await use("read_rows", /begins with its newest row/, { ...table, q: "A-1003" })
    expect(one.data).toMatchObject([{ customer: "Éva Bodnár", number: "A-1003" }])
  })

  it("sums a month to the last digit", async () => {
    const { table } = await orders()
    const { columns } = await use("describe_table", /name, type, label and comment/, table)
    const { type } = columns.data.find(({ name }: any) => name === "placed_on")
    // The list says what to do with a column of either type.
    const month =
      type === "text"
        ? { fc: ["placed_on", "placed_on"], fo: ["ge", "lt"], fv: ["2026-10-01", "2026-11-01"] }
        : { per: "placed_on", from: "2026-10-01", to: "2026-10-31" }
    const { rows, text } = await use("summarize_rows", /also its sum/, { ...table, ...month, column: "total" })
    expect(rows).toBe(27)
    expect(text).toContain(`"sum":${OCTOBER}`)
  })

  it("counts what came today, by the day of the cabinet's own time zone", async () => {
    const { table } = await orders()
    const { now, time_zone: zone } = await use("about_cabinet", /now begins with today's date/)
    expect(zone).toBe("Pacific/Auckland")
    const today = (now as string).slice(0, 10)
    const period = { per: "_received_at", from: today, to: today }
    const { rows, time_zone } = await use("summarize_rows", /in the cabinet's time zone/, { ...table, ...period })
    expect([rows, time_zone]).toEqual([ORDERS, "Pacific/Auckland"])
    const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10)
    const none = await use("summarize_rows", /How many rows/, { ...table, ...period, from: tomorrow, to: tomorrow })
    expect(none.rows).toBe(0)
  })

  it("lists open or refunded orders over an amount, by status and then by amount", async () => {
    const { table } = await orders()
    const { data } = await use("read_rows", /\(status = open or status = refunded\) and total >= 700/, {
      ...table,
      fc: ["status", "status", "total"],
      fo: ["eq", "eq", "ge"],
      fv: ["open", "refunded", "100"],
      fj: ["or", "and"],
      sort: ["status", "total"],
      dir: ["desc", "asc"],
      col: ["number", "status"],
    })
    const expected = Array.from({ length: ORDERS }, (_, n) => n).filter((n) => (n < 27 || n >= 100) && n % 3 !== 1)
    expect(data).toHaveLength(expected.length)
    expect([data[0].status, data.at(-1).status]).toEqual(["refunded", "open"])
    expect(data.at(-1).number).toMatch(/^A-10(0\d|1\d|2\d)$/)
  })

  it("says who orders most", async () => {
    const { table } = await orders()
    const { values } = await use("summarize_rows", /most frequent values with their counts/, {
      ...table,
      column: "customer",
    })
    const counts = new Map(values.data.map(({ value, count }: any) => [value, count]))
    expect(counts).toEqual(new Map(CUSTOMERS.map((name) => [name, ORDERS / 3])))
  })

  it("names the delivery address that fails, and why", async () => {
    const failing = () => use("list_failing_addresses", /each with its last error/)
    await vi.waitFor(async () => expect((await failing()).data[0]?.last_error).toBeTruthy(), 30_000)
    const { data, text } = await failing()
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({ url: "http://127.0.0.1:1/crm?…", last_error: { status: null } })
    expect(data[0].last_error.error).toBe("The receiver refused the connection.")
    expect(text).not.toContain("hidden")
  })

  it("tails new events: none twice, none missing", async () => {
    const { sourceId } = await orders()
    const source = { source_id: sourceId }
    const start = await use("read_events", /now, a day of the cabinet's time zone/, { ...source, from: "now" })
    expect(start.data).toEqual([])
    const seen: Array<number> = []
    const sending = (async () => {
      for (let tail = 0; tail < 5; tail++) await send("Orders", JSON.stringify({ tail, status: "tail" }))
    })()
    for (let cursor = start.next_cursor; seen.length < 5;) {
      const page = await use("wait_for_events", /waits for the next event/, { ...source, cursor, seconds: 10 })
      for (const { payload } of page.data) seen.push(payload.tail)
      cursor = page.next_cursor
    }
    await sending
    expect(seen).toEqual([0, 1, 2, 3, 4])
    await database.run("DELETE FROM sources.orders WHERE status = 'tail'")
  })

  it("reads a table that no single result holds, page by page", async () => {
    const { data } = await use("list_tables", /by schema and name/)
    const { schema, name } = data.find((one: any) => one.source.name === "Notes")
    const read: Array<number> = []
    let calls = 0
    for (let more = true, cursor: object = {}; more; calls++) {
      const page = await use("read_rows", /While has_more is true, call again with next_cursor/, {
        schema,
        name,
        ...cursor,
      })
      for (const { n } of page.data) read.push(n)
      more = page.has_more
      cursor = { cursor: page.next_cursor }
    }
    expect(read.toSorted((a, b) => a - b)).toEqual(Array.from({ length: NOTES }, (_, n) => n))
    expect(calls).toBeGreaterThan(1)
  })

  it("shows what a sender really sent, with its digits", async () => {
    const { sourceId } = await orders()
    const { now } = await use("about_cabinet", /what time it is there/)
    const day = (now as string).slice(0, 10)
    const { text } = await use("read_events", /a day of the cabinet's time zone/, {
      source_id: sourceId,
      from: day,
      limit: 1,
    })
    expect(text).toContain('"total":100407407407407407408.411')
  })
})
