/**
 * An agent's subscription and its stream while the servers that accept and answer, and the worker that sends, are killed in turn,
 * and the agent's endpoint says 503 now and then. `AGENT_ROUNDS` runs more rounds.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, expect, it, vi } from "vitest"
import { callbackReceiver } from "../support/callbackReceiver.ts"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type EventsClient, eventsClient } from "../support/eventsClient.ts"
import { withDatabase } from "../support/postgres.ts"
import { seeded } from "../support/random.ts"

const ROUNDS = Number(process.env["AGENT_ROUNDS"] ?? 2)
const EVENTS_A_ROUND = 12
const DIGITS = "98765432109876543210.10"
const WAIT = { timeout: 120_000, interval: 200 }

const database = withDatabase()
afterAll(endAll)

it(`each event reaches an agent through ${ROUNDS} kills of servers and workers and 5 % of 503s, and polls and streams agree`, async () => {
  const random = seeded(52)
  const home = newHome()
  const env = {
    DATABASE_URL: database.url,
    CABINET_ALLOWED_NETWORKS: "127.0.0.0/8",
    CABINET_API_RATE: "100000",
    CABINET_INTAKE_RATE: "0",
    CABINET_CONSOLE: "off",
  }
  const made = async (...args: ReadonlyArray<string>) => {
    const { code, stdout, stderr } = await home.cabinet([...args, "--json"], env)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const serve = () => home.serve(["--no-delivery", "--no-poll"], env)
  const servers: Array<ServerProcess> = [await serve(), await serve()]
  let worker = home.start(["worker"], env)
  const { intake_path: intakePath } = await made("source", "add", "Orders")
  const { key } = await made("key", "add", "agent")
  const hook = await callbackReceiver(() => (random(20) === 0 ? 503 : 204))

  /** Tries the servers that are there until one has answered. */
  const anyServer = <A>(work: (base: string) => Promise<A>): Promise<A> =>
    vi.waitFor(() => Promise.any(servers.map(({ baseUrl }) => work(baseUrl))), WAIT)
  const call = (...args: Parameters<EventsClient["call"]>) =>
    anyServer(async (base) => {
      const { result, text } = await eventsClient(base, key).call(...args)
      assert.isDefined(result, text)
      return result
    })

  const { cursor: begun } = await call("events/poll", { name: "source.orders", cursor: null })
  let cursor = begun
  const subscribe = async () => {
    const delivery = { mode: "webhook", url: hook.url, secret: hook.secret }
    const granted = await call("events/subscribe", { name: "source.orders", arguments: {}, delivery, cursor })
    cursor = granted.cursor
  }
  await subscribe()

  const streamed: Array<string> = []
  let isOver = false
  const follow = async () => {
    for (let at = begun; !isOver; await sleep(100)) {
      try {
        for await (const { json } of eventsClient(servers[0]!.baseUrl, key).stream({
          name: "source.orders",
          cursor: at,
        })) {
          if (json.method === "notifications/events/event") streamed.push(json.params.eventId)
          at = json.params.cursor
        }
      } catch {
        // Its server was killed: it goes on from the last position, at another one.
      }
    }
  }
  const following = follow()

  const send = (round: number, n: number) =>
    vi.waitFor(async () => {
      const [server] = servers
      const response = await fetch(`${server!.baseUrl}${intakePath}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: `{"round":${round},"n":${n},"total":${DIGITS}}`,
      })
      assert.equal(response.status, 200)
    }, WAIT)

  for (let round = 0; round < ROUNDS; round++) {
    const sending = (async () => {
      for (let n = 0; n < EVENTS_A_ROUND; n++) await send(round, n)
    })()
    if (round % 2 === 0) {
      const [killed] = servers.splice(0, 1)
      await killed!.stop("SIGKILL")
      servers.push(await serve())
    } else {
      worker.kill("SIGKILL")
      worker = home.start(["worker"], env)
    }
    await sending
    await subscribe()
  }

  const expected: Array<string> = []
  for (let at = begun, hasMore = true; hasMore;) {
    const page = await call("events/poll", { name: "source.orders", cursor: at, maxEvents: 7 })
    expected.push(...page.events.map(({ eventId }: { eventId: string }) => eventId))
    hasMore = page.hasMore
    at = page.cursor
  }
  expect(expected).toHaveLength(ROUNDS * EVENTS_A_ROUND)
  await vi.waitFor(() => expect(new Set(hook.ids())).toEqual(new Set(expected)), WAIT)
  expect([...new Set(hook.ids())]).toEqual(expected)
  await vi.waitFor(() => expect(streamed).toEqual(expected), WAIT)
  expect(hook.forged).toEqual([])
  for (const { text } of hook.taken) expect(text).toContain(`"total":${DIGITS}`)
  isOver = true
  await Promise.all([hook.close(), endAll(), following])
}, 3_600_000)
