/**
 * Many clients that wait for the feed, by pages and by streams, while events arrive at a steady rate: how much of its
 * rate intake keeps, how soon clients get an event, and whether each client gets each event once, even through `kill
 * -9` of the server. `npm run trials -- waits` uses 500 clients and reports the figures.
 */
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { withDatabase } from "../support/postgres.ts"
import { testCabinet } from "../support/testCabinet.ts"

const CLIENTS = Number(process.env["WAITING_CLIENTS"] ?? 40)
const IS_TRIAL = process.env["WAITING_CLIENTS"] !== undefined
const OF_A_KEY = 10
const EVENTS_PER_SECOND = 20
const SECONDS = IS_TRIAL ? 15 : 2
const SAMPLES = IS_TRIAL ? 100 : 5
const ENV = { CABINET_INTAKE_RATE: "0", CABINET_API_RATE: "1000000", CABINET_CONSOLE: "off" }

const database = withDatabase()
let home: Home
let server: ServerProcess
let other: ServerProcess
let keys: ReadonlyArray<string>
let secret = ""

const serve = () => home.serve([], { ...ENV, DATABASE_URL: database.url })

beforeAll(async () => {
  home = newHome()
  const cabinet = testCabinet(database.url)
  const names = Array.from({ length: Math.ceil(CLIENTS / OF_A_KEY) + 1 }, (_, index) => `clients ${index}`)
  keys = await Promise.all(
    names.map(async (name) => (await cabinet.runPromise(ApiKeys.use((all) => all.issue(name)))).key),
  )
  secret = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).intakeSecret
  await cabinet.dispose()
  server = await serve()
  other = await serve()
}, 120_000)
afterAll(() => endAll(), 60_000)

const rest = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

let sent = 0
const send = async (by: ServerProcess): Promise<void> => {
  const init = { method: "POST", body: `{"n":${sent++}}`, headers: { "content-type": "application/json" } }
  const response = await fetch(`${by.baseUrl}/webhook/${secret}`, init)
  if (response.status !== 200) throw new Error(await response.text())
  await response.arrayBuffer()
}

interface Page {
  readonly data: ReadonlyArray<{ readonly id: number }>
  readonly has_more: boolean
  readonly next_cursor: string
}

const ask = async (key: string, cursor: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal) => {
  const at = cursor === "" ? "" : `&cursor=${cursor}`
  const init = { headers: { "x-api-key": key, ...headers }, ...(signal === undefined ? {} : { signal }) }
  const response = await fetch(`${server.baseUrl}/api/v1/events?limit=1000${at}`, init)
  if (response.status !== 200) throw new Error(await response.text())
  return response
}

const pageOf = async (response: Response) => (await response.json()) as Page

const readAll = async (from: string) => {
  const ids: Array<number> = []
  for (let cursor = from; ;) {
    const page = await pageOf(await ask(keys.at(-1)!, cursor, {}))
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
    if (!page.has_more) return { ids, cursor }
  }
}

/** Follows the feed until it is stopped, and resumes at its position whatever happens to the server. */
class Client {
  readonly ids: Array<number> = []
  readonly #key: string
  readonly #streams: boolean
  readonly #leave = new AbortController()
  #cursor: string

  constructor(index: number, cursor: string) {
    this.#key = keys[Math.floor(index / OF_A_KEY)]!
    this.#streams = index % 4 === 0
    this.#cursor = cursor
  }

  async follow(): Promise<void> {
    while (!this.#leave.signal.aborted) {
      try {
        await (this.#streams ? this.#readStream() : this.#readPage())
      } catch {
        if (!this.#leave.signal.aborted) await rest(200)
      }
    }
  }

  leave(): void {
    this.#leave.abort()
  }

  async #readPage(): Promise<void> {
    const page = await pageOf(await ask(this.#key, this.#cursor, { prefer: "wait=20" }, this.#leave.signal))
    this.ids.push(...page.data.map(({ id }) => id))
    this.#cursor = page.next_cursor
  }

  async #readStream(): Promise<void> {
    const headers = { accept: "text/event-stream", "last-event-id": this.#cursor }
    const response = await ask(this.#key, this.#cursor, headers, this.#leave.signal)
    let text = ""
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString()
      const end = text.lastIndexOf("\n\n")
      for (const [, id, data] of text.slice(0, end + 2).matchAll(/id: ([^\n]+)\ndata: ([^\n]+)\n\n/g)) {
        this.ids.push((JSON.parse(data!) as { readonly id: number }).id)
        this.#cursor = id!
      }
      text = text.slice(end + 2)
    }
  }
}

/** Sends at a steady rate; returns how many events per second were accepted. */
const steadily = async (seconds: number): Promise<number> => {
  const began = performance.now()
  let accepted = 0
  const under: Array<Promise<void>> = []
  for (let n = 0; n < seconds * EVENTS_PER_SECOND; n++) {
    await rest(Math.max(0, began + (n * 1_000) / EVENTS_PER_SECOND - performance.now()))
    const count = () => void accepted++
    // Requests that a killed server did not accept do not count.
    under.push(send(server).then(count, () => {}))
  }
  await Promise.all(under)
  return accepted / ((performance.now() - began) / 1_000)
}

/** The median time from the start of a submission to its page at a waiting client, in milliseconds. */
const latency = async (by: ServerProcess): Promise<number> => {
  let { cursor } = await readAll("")
  const took: Array<number> = []
  for (let n = 0; n < SAMPLES; n++) {
    const came = ask(keys.at(-1)!, cursor, { prefer: "wait=20" }).then(pageOf)
    await rest(100 + 7 * (n % 13))
    const at = performance.now()
    const [page] = await Promise.all([came, send(by)])
    took.push(performance.now() - at)
    cursor = page.next_cursor
  }
  return took.sort((one, another) => one - another)[SAMPLES >> 1]!
}

it(
  "each client gets each event once, through kills of the server, and intake keeps its rate",
  { timeout: 300_000 },
  async () => {
    const figures: Record<string, number> = { here: await latency(server), elsewhere: await latency(other) }
    figures["alone"] = await steadily(SECONDS)
    const { cursor } = await readAll("")
    const clients = Array.from({ length: CLIENTS }, (_, index) => new Client(index, cursor))
    const followed = clients.map((client) => client.follow())
    await rest(1_000)
    figures["together"] = await steadily(SECONDS)

    const more = steadily(SECONDS)
    await rest(SECONDS * 300)
    await server.stop("SIGKILL")
    await more
    server = await serve()
    await steadily(1)
    for (let n = 0; n < EVENTS_PER_SECOND; n++) await send(other)

    const { ids } = await readAll(cursor)
    await expect
      .poll(() => clients.filter((client) => client.ids.length < ids.length).length, {
        timeout: 100_000,
        interval: 200,
      })
      .toBe(0)
    for (const client of clients) client.leave()
    await Promise.all(followed)
    for (const client of clients) expect(client.ids).toEqual(ids)
    if (!IS_TRIAL) return
    // oxlint-disable-next-line no-console
    console.log(JSON.stringify({ clients: CLIENTS, events: ids.length, ...figures }))
    expect(figures["together"]! / figures["alone"]!).toBeGreaterThanOrEqual(0.95)
  },
)
