/** The client for programs, against real servers: its types, the feed through kills, rows, intake with retries. */
import { createServer, request as forward, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as client from "@data-cabinet/client"
import { Cabinet, CabinetError, type FeedEvent, Management, sendToIntake, verifyDelivery } from "@data-cabinet/client"
import { appendEvents, type AcceptRequest, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { JsonNumber } from "@data-cabinet/core/json/Json"
import { signDelivery } from "@data-cabinet/core/delivery/Signature"
import { verifyDelivery as nodesOwn } from "@data-cabinet/core/delivery/VerifyDelivery"
import { Effect } from "effect"
import { rolldown } from "rolldown"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type Description, operationsFile } from "../support/operationsFile.ts"
import { withDatabase } from "../support/postgres.ts"
import { freePorts } from "../support/packed.ts"
import { testCabinet } from "../support/testCabinet.ts"

const GENERATED = fileURLToPath(new URL("../../packages/client/src/generated/Operations.ts", import.meta.url))
const ENTRY = fileURLToPath(new URL("../../packages/client/src/index.ts", import.meta.url))

/** `npm run trials -- client` follows 200,000. */
const EVENTS = Number(process.env["CLIENT_EVENTS"] ?? 6_000)
const BATCH = 200
const KILLS = 4

const database = withDatabase()
const home = newHome()
let port: number
let server: ServerProcess
let key: string
let token: string

const serve = () =>
  home.serve(["--port", String(port)], {
    DATABASE_URL: database.url,
    CABINET_API_RATE: "100000",
    CABINET_INTAKE_RATE: "0",
  })

beforeAll(async () => {
  port = (await freePorts(1))[0]!
  server = await serve()
  key = server.welcome.key!.key
  const issued = await home.cabinet(["token", "add", "owner", "--role", "owner", "--get", "token"], {
    DATABASE_URL: database.url,
  })
  token = issued.stdout.trim()
})
afterAll(endAll)

const all = async <A>(events: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const event of events) found.push(event)
  return found
}

const manage = () => new Management({ baseUrl: server.baseUrl, token })
const cabinet = (numbers: "string" | "bigint" = "string") => new Cabinet({ baseUrl: server.baseUrl, key, numbers })

it("the operations are those of the server's own description", async () => {
  const response = await fetch(`${server.baseUrl}/manage/v1/openapi.json`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await expect(operationsFile((await response.json()) as Description)).toMatchFileSnapshot(GENERATED)
})

/** Sorts keys, so that a moved member is no difference. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const { description: _, ...rest } = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(typeof value["description" as never] === "string" ? rest : value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [
        name,
        name === "required" ? (inner as ReadonlyArray<string>).toSorted() : sorted(inner),
      ]),
  )
}

it("the management API's schemas stay those that clients were generated from, whatever their descriptions", async () => {
  const response = await fetch(`${server.baseUrl}/manage/v1/openapi.json`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { components } = (await response.json()) as Description
  const lines = Object.entries(components.schemas).map(([name, schema]) => `${name} ${JSON.stringify(sorted(schema))}`)
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../fixtures/managementSchemas.txt")
})

it("its bundle has no imports, and at most 12 KB", async () => {
  const bundle = await rolldown({ input: ENTRY, platform: "neutral" })
  const { output } = await bundle.generate({ format: "esm", minify: true })
  await bundle.close()
  expect(output).toHaveLength(1)
  expect(output[0].imports).toEqual([])
  expect(Buffer.byteLength(output[0].code)).toBeLessThanOrEqual(12_288)
})

it("the management API is called by the names of its operations", async () => {
  const made = await manage().call("addSource", { body: { name: "Called" } })
  expect((await manage().call("getSource", { path: { id: made.id } })).name).toBe("Called")
  expect((await manage().call("listSources")).data.map(({ name }) => name)).toContain("Called")
  await manage().call("deleteSource", { path: { id: made.id }, query: { table: "drop" } })
  const gone = manage().call("getSource", { path: { id: made.id } })
  await expect(gone).rejects.toMatchObject({ name: "CabinetError", code: "no_such_source", status: 404, param: "id" })
})

/** Numbers that a double would not keep, and a repeat every hundred events. */
const batch = (sourceId: number, from: number): AcceptRequest => ({
  sourceId,
  sourceVersion: 1,
  channel: "webhook",
  history: false,
  events: Array.from({ length: BATCH }, (_, n) => {
    const repeats = (from + n) % 100 === 99
    return fingerprintedEvent(new Map([["n", new JsonNumber(repeats ? "0.10" : `1234567890123456${from + n}`)]]))
  }),
  original: null,
})

it(
  "a feed that is followed through kills of the server ends with exactly the table",
  { timeout: EVENTS * 10 + 240_000 },
  async () => {
    const { id } = await manage().call("addSource", { body: { name: "Fed" } })
    const store = testCabinet(database.url)
    const write = (from: number, to: number) =>
      store.runPromise(
        EventLog.use((log) =>
          Effect.forEach(
            Array.from({ length: (to - from) / BATCH }, (_, n) => from + n * BATCH),
            (first) => appendEvents(log, batch(id, first)),
            { concurrency: 2, discard: true },
          ),
        ),
      )
    // The last events come after the last kill, so that each kill meets a client that still reads.
    const writing = write(0, EVENTS - BATCH)
    const kept = new Map<number, FeedEvent>()
    let cursor: string | null = null
    let failures = 0
    const enough = new AbortController()
    const following = (async () => {
      try {
        const options = {
          sourceId: id,
          limit: 200,
          everyMillis: 50,
          signal: enough.signal,
          cursors: { load: () => cursor, save: (next: string) => void (cursor = next) },
          onRetry: () => void failures++,
        }
        for await (const { events, cursor: after } of cabinet("bigint").feedPages(options)) {
          for (const event of events) {
            assert.isFalse(kept.has(event.id), "no event comes twice to a reader that is not killed")
            kept.set(event.id, event)
          }
          if (kept.size < EVENTS) continue
          // Leaving without requesting the next page keeps the cursor of the page.
          cursor = after
          return
        }
      } finally {
        enough.abort()
      }
    })()
    for (let kills = 1; kills <= KILLS; kills++) {
      await expect
        .poll(() => kept.size, { timeout: 120_000 })
        .toBeGreaterThanOrEqual((EVENTS / (KILLS + 1)) * kills * 0.5)
      await server.stop("SIGKILL")
      await expect.poll(() => failures, { timeout: 100_000 }).toBeGreaterThanOrEqual(kills)
      server = await serve()
    }
    await writing
    await write(EVENTS - BATCH, EVENTS)
    await following
    await store.dispose()

    // A row whose table could not get its column in time is written a moment later.
    await expect.poll(() => database.run("SELECT FROM cabinet.deferred_row LIMIT 1")).toEqual([])
    const firsts = [...kept.values()].filter(({ repeat_of }) => repeat_of === null)
    const table: Array<ReadonlyArray<unknown>> = []
    for await (const row of cabinet("bigint").rows("sources", "fed", { sort: "_event_id", dir: "asc" })) {
      table.push([row["_event_id"], row["n"]])
    }
    const fed = firsts.sort((one, other) => one.id - other.id).map(({ id: event, payload }) => [event, payload!["n"]])
    assert.strictEqual(kept.size, EVENTS)
    assert.isAbove(table.length, EVENTS * 0.98)
    assert.deepStrictEqual<unknown>(fed, table)
    assert.typeOf(table[0]![1], "bigint")
    // A second run from the stored cursor finds nothing more.
    const rest: Array<FeedEvent> = []
    for await (const event of cabinet().feed({ sourceId: id, cursor, follow: false })) rest.push(event)
    assert.deepStrictEqual(rest, [])
  },
)

it("a feed with a follower goes on where the last processed page ended, and repeats a page that was left", async () => {
  const { id, intake_url } = await manage().call("addSource", { body: { name: "Kept" } })
  const sent = []
  for (let n = 0; n < 5; n++) sent.push((await sendToIntake(intake_url, { n })).id)
  const options = { sourceId: id, follower: "erp", follow: false, limit: 2 }
  const got: Array<number> = []
  for await (const event of cabinet().feed(options)) {
    got.push(event.id)
    // In the middle of the second page.
    if (got.length === 3) break
  }
  assert.deepStrictEqual(got, sent.slice(0, 3))
  const rest = await all(cabinet().feed(options))
  assert.deepStrictEqual(
    rest.map((event) => event.id),
    sent.slice(2),
  )
  assert.deepStrictEqual(await all(cabinet().feed(options)), [])
  const { data } = await manage().call("listFollowers", {})
  expect(data.find(({ kind }) => kind === "client")).toMatchObject({ name: "erp", source_id: id, behind: 0 })
  await expect(all(cabinet().feed({ ...options, cursor: "x" }))).rejects.toThrow(/Pass follower, or cursor/)
})

it("numbers that a double cannot hold keep their digits as text, and others are numbers", async () => {
  const { intake_url } = await manage().call("addSource", { body: { name: "Numbers" } })
  const receipt = await sendToIntake(intake_url, { big: 2n ** 80n, small: 12.5, text: "1e5", list: [1, null] })
  expect(receipt).toMatchObject({ duplicate: false, empty: false })
  const events = await all(cabinet().feed({ follow: false }))
  expect(events.at(-1)).toMatchObject({
    id: receipt.id,
    payload: { big: "1208925819614629174706176", small: 12.5, text: "1e5", list: [1, null] },
  })
})

it("a submission resent because its response was lost is one event and its repeat", async () => {
  const { intake_path } = await manage().call("addSource", { body: { name: "Retried" } })
  let sent = 0
  const lossy: Server = createServer((incoming, outgoing) => {
    const lost = ++sent <= 2
    const onward = forward(
      { port, host: "127.0.0.1", path: incoming.url, method: incoming.method, headers: incoming.headers },
      (response) => {
        if (lost) return void response.resume().on("end", () => incoming.socket.destroy())
        outgoing.writeHead(response.statusCode!, response.headers)
        response.pipe(outgoing)
      },
    )
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => lossy.listen(0, "127.0.0.1", resolve))
  const address = `http://127.0.0.1:${(lossy.address() as AddressInfo).port}${intake_path}`
  expect(await sendToIntake(address, { order: 7, total: "12.50" })).toMatchObject({ duplicate: true })
  expect(sent).toBe(3)
  expect((await cabinet().page("sources", "retried")).data).toHaveLength(1)
  await expect(sendToIntake(address.slice(0, -3), { a: 1 })).rejects.toMatchObject({ status: 404 })
  lossy.close()
  lossy.closeAllConnections()
  const away = sendToIntake(address, { a: 1 }, { retryForMillis: 0 })
  await expect(away).rejects.toMatchObject({ code: "unreachable", status: null })
})

it("a refused key and a bad cursor are thrown immediately, with the API's code", async () => {
  const wrong = new Cabinet({ baseUrl: `${server.baseUrl}/`, key: "dck_wrong" })
  const error = await wrong.sources().catch((caught: unknown) => caught)
  assert.instanceOf(error, CabinetError)
  assert.deepInclude({ ...error }, { code: "invalid_key", status: 401 })
  const bad = all(cabinet().feed({ cursor: "nonsense" }))
  await expect(bad).rejects.toMatchObject({ code: "bad_cursor", param: "cursor" })
})

it("the examples of docs/client.md run", async () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/client.md", import.meta.url)), "utf8")
  const blocks = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!)
  assert.lengthOf(blocks, 4)
  const { intake_url } = await manage().call("addSource", { body: { name: "Orders, shown" } })
  await sendToIntake(intake_url, { name: "Ada", total: "12.50" })
  const env = { CABINET_KEY: key, CABINET_TOKEN: token, INTAKE_URL: intake_url }
  const printed: Array<string> = []
  const console = { log: (...words: ReadonlyArray<unknown>) => void printed.push(words.map(String).join(" ")) }
  const AsyncFunction = (async () => {}).constructor as new (
    ...text: ReadonlyArray<string>
  ) => (...given: ReadonlyArray<unknown>) => Promise<void>
  for (const block of blocks) {
    const code = block
      .replace(/^import (\{.*\}) from "data-cabinet\/client"$/m, "const $1 = client")
      .replace("https://data.example.com", server.baseUrl)
      .replace('"orders"', '"orders_shown"')
    await new AsyncFunction("client", "process", "console", code)(client, { env }, console)
  }
  expect(printed).toContain("Ada 12.50")
  expect(printed).toContainEqual(expect.stringMatching(/^\d+ true$/))
  expect(printed.at(-1)).toContain("/webhook/")
})

it("a value never becomes a number other than the one sent", async () => {
  const { intake_url } = await manage().call("addSource", { body: { name: "Odd names" } })
  const sent = { "\u0000": "1", big: 2n ** 70n, quoted: '"12345678901234567890"\\' }
  const { id } = await sendToIntake(intake_url, sent)
  const events = await all(cabinet("bigint").feed({ follow: false }))
  const { big, ...others } = events.find((event) => event.id === id)!.payload!
  expect(big).toBe(2n ** 70n)
  expect(Object.values(others)).toEqual(expect.arrayContaining(["1", sent.quoted]))
})

it("verifyDelivery agrees with Node's own", async () => {
  const now = new Date("2026-11-24T12:00:00Z")
  const t = Math.floor(Number(now) / 1000)
  const body = new TextEncoder().encode('{"total":12.50,"name":"Zoë"}')
  const header = signDelivery(body, ["new secret", "old secret"], t)
  const cases: ReadonlyArray<readonly [unknown, unknown, unknown, object?]> = [
    [body, header, "new secret"],
    [body, header, "old secret"],
    [new TextDecoder().decode(body), header, "new secret"],
    [body, header, "another"],
    [body, header, ""],
    [body, header, undefined],
    [body, undefined, "new secret"],
    [body, [header], "new secret"],
    [undefined, header, "new secret"],
    [body.slice(1), header, "new secret"],
    [body, header.replace(/^t=\d+/, `t=${t + 1}`), "new secret"],
    [body, header, "new secret", { now: new Date(Number(now) + 301_000) }],
    [body, header, "new secret", { now: new Date(Number(now) + 300_000) }],
    [body, header, "new secret", { toleranceSeconds: Number.NaN }],
    [body, `t=${t},${"v1=00,".repeat(8)}${header.slice(header.indexOf("v1="))}`, "new secret"],
    [body, `t=${t},v1=zz`, "new secret"],
  ]
  for (const [sent, signature, secret, options = {}] of cases) {
    const theirs = nodesOwn(sent as never, signature as never, secret as never, { now, ...options })
    const ours = await verifyDelivery(sent as never, signature as never, secret as never, { now, ...options })
    assert.strictEqual(ours, theirs, JSON.stringify([signature, secret, options]))
  }
})
