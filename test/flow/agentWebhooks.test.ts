/** Subscriptions of agents by webhook: challenge, signature, life, limits, and the end of their key. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { type CallbackReceiver, callbackReceiver } from "../support/callbackReceiver.ts"
import { type EventsClient, eventsClient } from "../support/eventsClient.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const DIGITS = "1234567890123456789012345678901234567890"
const WAIT = { timeout: 120_000 }
let cabinet: Cabinet
let server: Server
let base = ""
let client: EventsClient
let keyId = 0
let orders = 0
let intakePath = ""
let letters = 0
const closing: Array<() => Promise<unknown>> = []

beforeAll(async () => {
  cabinet = await openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"], apiRate: 100_000 })
  server = createServer(cabinet.nodeHandler)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const source = await cabinet.sources.create({ name: "Orders" })
  orders = source.id
  intakePath = new URL(source.intakeUrl).pathname
  letters = (await cabinet.sources.create({ name: "Letters" })).id
  const key = await cabinet.keys.create({ name: "wake-me" })
  keyId = key.id
  client = eventsClient(base, key.key)
})
afterAll(async () => {
  for (const close of closing) await close()
  server.closeAllConnections()
  server.close()
  await cabinet.close()
})

const receiver = async (...parameters: Parameters<typeof callbackReceiver>): Promise<CallbackReceiver> => {
  const made = await callbackReceiver(...parameters)
  closing.push(made.close)
  return made
}

const subscription = ({ url, secret }: Pick<CallbackReceiver, "url" | "secret">, name = "source.orders") => ({
  name,
  arguments: {},
  delivery: { mode: "webhook", url, secret },
})

const send = async (source: number, fields: Record<string, unknown>): Promise<string> =>
  String((await cabinet.intake(source, { fields: { ...fields, at: Math.random() } as never })).id)

const later = (seconds: number) =>
  database.run(`UPDATE cabinet.clock SET shift = shift + interval '${seconds} seconds'`)

it("a subscription begins with a challenge, and brings each event signed, with its digits and its position", async () => {
  const hook = await receiver()
  const { result, text } = await client.call("events/subscribe", subscription(hook))
  assert.isDefined(result, text)
  expect(result).toMatchObject({
    resultType: "complete",
    truncated: false,
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
  })
  expect(hook.state.challenges).toBe(1)
  await send(letters, { text: "other" })
  const posted = await fetch(`${base}${intakePath}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: `{"total":${DIGITS},"small":0.10}`,
  })
  const { id } = (await posted.json()) as { readonly id: number }
  await vi.waitFor(() => expect(hook.ids()).toEqual([String(id)]), WAIT)
  const [one] = hook.taken
  expect(one!.headers).toMatchObject({
    "webhook-id": String(id),
    "x-mcp-subscription-id": result.id,
    "content-type": "application/json",
  })
  expect(one!.headers["x-service-signature"]).toBeUndefined()
  expect(one!.json).toMatchObject({
    eventId: String(id),
    name: "source.orders",
    data: { id, source: { name: "Orders" } },
  })
  expect(one!.text).toContain(`"payload":{"total":${DIGITS},"small":0.10}`)
  // The position in the body is that of polls.
  const next = await send(orders, { n: 2 })
  const polled = await client.call("events/poll", { name: "source.orders", cursor: one!.json.cursor })
  expect(polled.result.events.map(({ eventId }: { eventId: string }) => eventId)).toEqual([next])
  await vi.waitFor(() => expect(hook.ids()).toEqual([String(id), next]), WAIT)
  // A refresh is the same subscription, which needs no second challenge, and goes on.
  const refreshed = await client.call("events/subscribe", { ...subscription(hook), cursor: one!.json.cursor })
  expect(refreshed.result.id).toBe(result.id)
  expect(result.deliveryStatus).toBeUndefined()
  expect(refreshed.result.deliveryStatus).toEqual({ active: true, lastDeliveryAt: expect.any(String), lastError: null })
  expect([hook.state.challenges, hook.forged]).toEqual([1, []])
  const [listed] = (await cabinet.addresses.list()).filter(({ url }) => url === hook.url)
  expect(listed).toMatchObject({
    subscription: { id: result.id, agent: "wake-me", event: "source.orders", endsAt: refreshed.result.refreshBefore },
  })
  const refused = /which alone changes it/
  await expect(cabinet.addresses.change(listed!.id, { rate: 1 })).rejects.toThrow(refused)
  await expect(cabinet.addresses.rotateSecret(listed!.id)).rejects.toThrow(refused)
  await expect(cabinet.addresses.ping(listed!.id)).rejects.toThrow(refused)
  expect((await client.call("events/unsubscribe", subscription(hook))).result).toMatchObject({ resultType: "complete" })
  await send(orders, { n: 3 })
  expect((await client.call("events/unsubscribe", subscription(hook))).error).toMatchObject({
    code: -32_023,
    data: { kind: "subscription" },
  })
  expect(hook.ids()).toHaveLength(2)
})

it("a subscription with an earlier position brings what came since, and event.received has every source", async () => {
  const { result: begun } = await client.call("events/poll", { name: "event.received" })
  const ids = [await send(orders, { a: 1 }), await send(letters, { b: 2 })]
  const hook = await receiver()
  await client.call("events/subscribe", { ...subscription(hook, "event.received"), cursor: begun.cursor })
  ids.push(await send(orders, { c: 3 }))
  await vi.waitFor(() => expect(hook.ids()).toEqual(ids), WAIT)
  await client.call("events/unsubscribe", subscription(hook, "event.received"))
})

it("a renewal says since when deliveries fail and how, in a category and never in the endpoint's words", async () => {
  const hook = await receiver(() => 500)
  await client.call("events/subscribe", subscription(hook))
  await send(orders, { unhappy: 1 })
  const renewed = () => client.call("events/subscribe", subscription(hook))
  await vi.waitFor(async () => expect((await renewed()).result.deliveryStatus.lastError).toBe("http_5xx"), WAIT)
  const { deliveryStatus } = (await renewed()).result
  expect(deliveryStatus).toEqual({
    active: true,
    lastDeliveryAt: null,
    lastError: "http_5xx",
    failedSince: expect.stringMatching(/Z$/),
  })
  const [listed] = (await cabinet.addresses.list()).filter(({ url }) => url === hook.url)
  await cabinet.addresses.pause(listed!.id)
  expect((await renewed()).result.deliveryStatus).toMatchObject({ active: false, lastError: "http_5xx" })
  await client.call("events/unsubscribe", subscription(hook))
})

it("503 is retried, and 410 and 413 give up the event alone", async () => {
  const statuses = new Map<number, number>()
  const tried: Array<string> = []
  const hook = await receiver(({ json }) => {
    tried.push(json.eventId)
    const status = statuses.get(json.data.payload.n) ?? 204
    if (status === 503) statuses.delete(json.data.payload.n)
    return status
  })
  for (const [n, status] of [503, 410, 413].entries()) statuses.set(n, status)
  await client.call("events/subscribe", subscription(hook))
  const ids = [await send(orders, { n: 0 }), await send(orders, { n: 1 }), await send(orders, { n: 2 })]
  ids.push(await send(orders, { n: 3 }))
  await vi.waitFor(() => expect(hook.ids()).toEqual([ids[0], ids[3]]), WAIT)
  expect(tried).toEqual([ids[0], ids[0], ids[1], ids[2], ids[3]])
  await client.call("events/unsubscribe", subscription(hook))
})

it("a body over 256 KiB comes without its payload, which a poll has", async () => {
  const hook = await receiver()
  const { result } = await client.call("events/subscribe", subscription(hook))
  const id = await send(orders, { long: "x".repeat(300_000) })
  await vi.waitFor(() => expect(hook.ids()).toEqual([id]), WAIT)
  expect(hook.taken[0]!.text.length).toBeLessThan(262_144)
  expect(hook.taken[0]!.json.data).toMatchObject({ id: Number(id), payload_omitted: expect.any(Number) })
  const polled = await client.call("events/poll", { name: "source.orders", cursor: result.cursor })
  expect(polled.result.events[0].data.payload.long).toHaveLength(300_000)
  await client.call("events/unsubscribe", subscription(hook))
})

it("a new secret signs at once, and the old one for a while", async () => {
  const hook = await receiver()
  await client.call("events/subscribe", subscription(hook))
  const other = await receiver()
  await client.call("events/subscribe", subscription({ url: hook.url, secret: other.secret }))
  const id = await send(orders, { rotated: 1 })
  await vi.waitFor(() => expect(hook.ids()).toEqual([id]), WAIT)
  expect(String(hook.taken[0]!.headers["webhook-signature"]).split(" ")).toHaveLength(2)
  await client.call("events/unsubscribe", subscription(hook))
})

it("a subscription that is not renewed ends, and lives no longer than a week", async () => {
  const hook = await receiver()
  const lifeOf = async (ttlMs: number | null) => {
    const { result } = await client.call("events/subscribe", { ...subscription(hook), ttlMs })
    const [row] = await database.run("SELECT extract(epoch FROM cabinet.now()) AS now")
    return Math.round(Date.parse(result.refreshBefore) / 1000 - Number(row!["now"]))
  }
  // The clock goes on between the two.
  for (const [ttlMs, life] of [
    [null, 604_800],
    [10 ** 12, 604_800],
    [0, 60],
  ] as const) {
    const seconds = await lifeOf(ttlMs)
    assert.isTrue(seconds <= life && seconds > life - 50, `${ttlMs}: ${seconds}`)
  }
  const before = await send(orders, { alive: 1 })
  await vi.waitFor(() => expect(hook.ids()).toEqual([before]), WAIT)
  await later(61)
  await send(orders, { alive: 2 })
  expect((await cabinet.addresses.list()).filter(({ url }) => url === hook.url)).toEqual([])
  // Another subscription is sent the event, so this one would have been.
  const witness = await receiver()
  await client.call("events/subscribe", subscription(witness))
  const after = await send(orders, { alive: 3 })
  await vi.waitFor(() => expect(witness.ids()).toEqual([after]), WAIT)
  expect(hook.ids()).toEqual([before])
  await client.call("events/unsubscribe", subscription(witness))
})

it("a token with one source subscribes to that one, and is sent nothing after its revocation", async () => {
  const { token, id } = await cabinet.tokens.create({ name: "one", role: "reader", only: ["sources.orders"] })
  const scoped = eventsClient(base, token)
  const hook = await receiver()
  for (const name of ["event.received", "source.letters"]) {
    expect((await scoped.call("events/subscribe", subscription(hook, name))).error).toMatchObject({ code: -32_023 })
  }
  expect(hook.state.challenges).toBe(0)
  assert.isDefined((await scoped.call("events/subscribe", subscription(hook))).result)
  await send(letters, { hidden: 1 })
  const seen = await send(orders, { shown: 1 })
  await vi.waitFor(() => expect(hook.ids()).toEqual([seen]), WAIT)
  await cabinet.tokens.revoke(id)
  const witness = await receiver()
  await client.call("events/subscribe", subscription(witness))
  const late = await send(orders, { late: 1 })
  await vi.waitFor(() => expect(witness.ids()).toEqual([late]), WAIT)
  expect(hook.ids()).toEqual([seen])
  expect((await cabinet.addresses.list()).filter(({ url }) => url === hook.url)).toEqual([])
  await client.call("events/unsubscribe", subscription(witness))
})

it("an endpoint that echoes nothing, or cannot be reached, is refused without a word of its own", async () => {
  const hook = await receiver()
  hook.state.echoes = false
  const refused = async (delivery: object) => {
    const { error } = await client.call("events/subscribe", { ...subscription(hook), delivery })
    return error
  }
  const { url, secret } = hook
  expect(await refused({ url, secret })).toMatchObject({ code: -32_027, data: { reason: "challenge_failed" } })
  const other = await receiver()
  expect(await refused({ url, secret: other.secret })).toMatchObject({ code: -32_027, data: { reason: "http_4xx" } })
  expect(await refused({ url: "http://127.0.0.1:9/", secret })).toMatchObject({
    code: -32_027,
    data: { reason: "connection_refused" },
  })
  const bad: ReadonlyArray<readonly [object, number]> = [
    [{ url, secret, mode: "push" }, -32_026],
    [{ url }, -32_602],
    [{ url, secret: "whsec_c2hvcnQ=" }, -32_602],
    [{ secret }, -32_602],
    [{ url: "http://example.com/hook", secret }, -32_602],
    [{ url: "https://user:word@example.com/hook", secret }, -32_602],
    [{ url: "https://10.0.0.1/hook", secret }, -32_602],
    [{ url: "https://169.254.169.254/latest", secret }, -32_602],
    [{ url: "https://[::ffff:10.0.0.1]/hook", secret }, -32_602],
    [{ url: "https://0x0a000001/hook", secret }, -32_602],
    [{ url: "ftp://example.com", secret }, -32_602],
  ]
  for (const [delivery, code] of bad) {
    const error = await refused(delivery)
    assert.equal(error?.code, code, JSON.stringify(delivery))
    assert.notMatch(error!.message, /10\.0\.0\.1|169\.254/)
  }
  expect((await cabinet.addresses.list()).filter((one) => one.url === hook.url)).toEqual([])
})

it("a key has at most 100 subscriptions, and the next one is refused in words", async () => {
  const hook = await receiver()
  const at = (n: number) => subscription({ ...hook, url: `${hook.url}?n=${n}` })
  for (let n = 0; n < 100; n += 20) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client.call("events/subscribe", at(n + index))),
    )
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([])
  }
  const { error } = await client.call("events/subscribe", at(100))
  expect(error).toMatchObject({ code: -32_025, data: { limit: "subscriptions", max: 100 } })
  expect(error!.message).toMatch(/^There are 100 subscriptions, which is the limit/)
  expect((await client.call("events/subscribe", at(5))).error).toBeUndefined()
  await cabinet.keys.revoke(keyId)
  expect((await cabinet.addresses.list()).filter(({ subscription: one }) => one !== null)).toEqual([])
})
