/** The sending settings of an address: headers, rate, time limit, and giving up. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

const database = withDatabase()
const SECRET = "Bearer the receiver's own token"
let receiver: Receiver
let other: Receiver
/** Two processes of one cabinet, each with its own delivery loop. */
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet

beforeAll(async () => {
  ;[receiver, other] = await Promise.all([startReceiver(), startReceiver()])
  const open = () => openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"] })
  cabinets = [await open(), await open()]
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all((cabinets ?? []).map((one) => one.close()))
  await Promise.all([receiver.close(), other.close()])
})

const send = (source: { readonly id: number }, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => cabinet.intake(source.id, { fields: { n } })))

it("deliveries and pings have the address's headers, and ours", async () => {
  const source = await cabinet.sources.create({ name: "Orders" })
  const headers = [
    ["Authorization", SECRET],
    ["X-Tenant", "é 7"],
  ] as const
  const address = await cabinet.addresses.create({ url: receiver.url, sources: [source.id], headers })
  expect(address.headerNames).toEqual(["Authorization", "X-Tenant"])
  await send(source, 1)
  await cabinet.addresses.ping(address.id)
  await receiver.until(({ length }) => length === 2)
  for (const { headers: received, type } of receiver.received) {
    expect(received).toMatchObject({
      authorization: SECRET,
      "x-tenant": "é 7",
      "content-type": "application/json",
      "user-agent": "DataCabinet/1",
      "x-service-event": type,
    })
  }
  // No role sees a value, and the audit log does not have it.
  const told = [await cabinet.addresses.list(), await cabinet.addresses.get(address.id)]
  const audit = await database.run("SELECT changes::text FROM cabinet.audit")
  for (const text of [JSON.stringify(told), JSON.stringify(audit)]) {
    expect(text).not.toContain(SECRET)
    expect(text).toContain("X-Tenant")
  }
  const changed = await cabinet.addresses.change(address.id, { headers: [] })
  expect(changed.headerNames).toEqual([])
  await cabinet.addresses.ping(address.id)
  expect(receiver.received.at(-1)!.headers).not.toHaveProperty("authorization")
  await cabinet.addresses.remove(address.id)
})

it("headers are sent only to the origin that they were given for", async () => {
  const { id } = await cabinet.addresses.create({ url: receiver.url, sources: [], headers: [["X-Key", SECRET]] })
  const moving = cabinet.addresses.change(id, { url: other.url })
  await expect(moving).rejects.toMatchObject({ code: "headers_needed", message: expect.stringContaining("X-Key") })
  await expect(moving).rejects.not.toMatchObject({ message: expect.stringContaining(SECRET) })
  // Another scheme or port is another origin; another path is not.
  for (const url of [receiver.url.replace("http:", "https:"), other.url.replace("/hook", "/")]) {
    await expect(cabinet.addresses.change(id, { url })).rejects.toMatchObject({ code: "headers_needed" })
  }
  await cabinet.addresses.change(id, { url: `${receiver.url}/v2` })
  await cabinet.addresses.change(id, { url: other.url, headers: [] })
  await cabinet.addresses.ping(id)
  expect(other.received.at(-1)!.headers).not.toHaveProperty("x-key")
  // Headers set for one origin must not be sent to another that was set at the same time.
  const [headers, url] = await Promise.allSettled([
    cabinet.addresses.change(id, { headers: [["X-Key", SECRET]] }),
    cabinets[1]!.addresses.change(id, { url: receiver.url, headers: [] }),
  ])
  const { url: place, headerNames } = await cabinet.addresses.get(id)
  if (headers.status === "fulfilled" && url.status === "fulfilled") expect(headerNames).toEqual([])
  if (place === receiver.url) expect(headerNames).toEqual([])
  await cabinet.addresses.remove(id)
  const rows = await database.run(`SELECT headers::text FROM cabinet.address WHERE id = ${id}`)
  expect(rows).toEqual([{ headers: null }])
})

it("concurrent changes add, replace and remove single headers, and keep the others", async () => {
  const made = await cabinet.addresses.create({ url: receiver.url, sources: [], headers: [["X-Key", SECRET]] })
  const names = Array.from({ length: 20 }, (_, n) => `X-Added-${n}`)
  await Promise.all(
    names.map((name, n) => cabinets[n % 2]!.addresses.change(made.id, { setHeaders: [[name, String(n)]] })),
  )
  expect((await cabinet.addresses.get(made.id)).headerNames.toSorted()).toEqual([...names, "X-Key"].toSorted())
  await cabinet.addresses.change(made.id, { setHeaders: [["x-added-3", "new"]], removeHeaders: names.slice(4) })
  const sent = async () => {
    await cabinet.addresses.ping(made.id)
    return receiver.received.at(-1)!.headers
  }
  expect(await sent()).toMatchObject({ "x-key": SECRET, "x-added-0": "0", "x-added-3": "new" })
  expect(await sent()).not.toHaveProperty("x-added-4")
  const few = [...names.slice(0, 3), "X-Added-3"]
  for (const [change, code] of [
    [{ headers: [], setHeaders: [] }, "bad_header"],
    [{ headers: [], removeHeaders: ["X-Key"] }, "bad_header"],
    [{ setHeaders: [["X-Key", "1"]], removeHeaders: ["x-key"] }, "bad_header"],
    [{ setHeaders: [["Host", SECRET]] }, "bad_header"],
    [{ setHeaders: Array.from({ length: 46 }, (_, n) => [`X-${n}`, ""] as const) }, "bad_header"],
    [{ url: other.url, setHeaders: [["X-New", SECRET]] }, "headers_needed"],
    [{ url: other.url, removeHeaders: few }, "headers_needed"],
  ] as const) {
    const refused = cabinet.addresses.change(made.id, change)
    await expect(refused).rejects.toMatchObject({ code, message: expect.not.stringContaining(SECRET) })
  }
  // Another origin only gets headers that were set for it.
  const moved = await cabinet.addresses.change(made.id, {
    url: other.url,
    setHeaders: [["X-Key", "another"]],
    removeHeaders: few,
  })
  expect(moved.headerNames).toEqual(["X-Key"])
  await cabinet.addresses.ping(made.id)
  expect(other.received.at(-1)!.headers).toMatchObject({ "x-key": "another" })
  const audit = JSON.stringify(
    await database.run("SELECT changes::text FROM cabinet.audit WHERE changes::text LIKE '%set_header_names%'"),
  )
  expect(audit).toContain("X-Added-19")
  expect(audit).not.toContain("another")
  await cabinet.addresses.remove(made.id)
})

it("invalid headers, and reserved ones of the contract, the connection or the body, are refused by name", async () => {
  const theirs = [
    "Host",
    "Connection",
    "transfer-encoding",
    "TE",
    "Proxy-Authorization",
    "Content-Type",
    "content-encoding",
  ]
  const ours = ["User-Agent", "webhook-id", "Webhook-Signature", "X-Service-Signature", "x-service-event"]
  for (const name of [...theirs, ...ours, "a b", "", "é"]) {
    const made = cabinet.addresses.create({ url: receiver.url, headers: [[name, "1"]] })
    await expect(made, name).rejects.toMatchObject({ code: "bad_header" })
  }
  for (const value of ["a\r\nX-Other: 1", "я", "\0"]) {
    const made = cabinet.addresses.create({ url: receiver.url, headers: [["X-Key", value]] })
    await expect(made).rejects.toMatchObject({ message: "The value of the header X-Key cannot be sent." })
  }
  const twice = [
    ["X-Key", "1"],
    ["x-key", "2"],
  ] as const
  await expect(cabinet.addresses.create({ url: receiver.url, headers: twice })).rejects.toMatchObject({
    code: "bad_header",
  })
  for (const rate of [0, -1, 0.5, 1001, Number.NaN]) {
    await expect(cabinet.addresses.create({ url: receiver.url, rate })).rejects.toMatchObject({ code: "bad_rate" })
  }
  for (const timeoutSeconds of [0, 16, 1.5]) {
    const made = cabinet.addresses.create({ url: receiver.url, timeoutSeconds })
    await expect(made).rejects.toMatchObject({ code: "bad_timeout" })
  }
})

it("two processes together keep an address's rate, and a waiting delivery does not count as failed", async () => {
  const source = await cabinet.sources.create({ name: "Many" })
  const times: Array<number> = []
  const server = createServer((request, response) => {
    times.push(performance.now())
    request.resume().on("end", () => response.writeHead(204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const limited = await cabinet.addresses.create({ url, sources: [source.id], rate: 10 })
  const free = await cabinet.addresses.create({ url: receiver.url, sources: [source.id] })
  const from = receiver.received.length
  const began = performance.now()
  await send(source, 30)
  await receiver.until(({ length }) => length === from + 30)
  while (times.length < 30) await new Promise((resolve) => setTimeout(resolve, 20))
  // Each delivery has its tenth of a second. A busy machine sends late but never early, as two processes with separate rates
  // would.
  for (const [index, time] of times.entries()) expect(time - began).toBeGreaterThan(index * 100 - 50)
  const attempts = await cabinet.addresses.log(limited.id)
  expect(attempts.every(({ number, delivered }) => number === 1 && delivered)).toBe(true)
  expect(await cabinet.addresses.get(limited.id)).toMatchObject({ rate: 10, failingSince: null })
  await cabinet.addresses.change(limited.id, { rate: null })
  expect(await database.run("SELECT FROM cabinet.address_pace")).toEqual([])
  await Promise.all([limited, free].map(({ id }) => cabinet.addresses.remove(id)))
  server.close()
  server.closeAllConnections()
})

it("an attempt ends at the time limit of its address", async () => {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { id } = await cabinet.addresses.create({ url, sources: [], timeoutSeconds: 1 })
  const outcome = await cabinet.addresses.ping(id)
  expect(outcome).toMatchObject({ delivered: false, status: null, failure: expect.stringContaining("1 s") })
  expect(outcome.durationMs).toBeLessThan(10_000)
  server.close()
  server.closeAllConnections()
})

it("an address that fails for too long is paused, a healthy one is not, and resuming sends everything", async () => {
  const source = await cabinet.sources.create({ name: "Failing" })
  let status = 500
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(status).end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const week = 7 * 86_400
  const failing = await cabinet.addresses.create({ url, sources: [source.id], giveUpAfterSeconds: week })
  const honest = await cabinet.addresses.create({ url: receiver.url, sources: [source.id], giveUpAfterSeconds: week })
  const from = receiver.received.length
  const attempts = async (count: number) => {
    while ((await cabinet.addresses.log(failing.id)).length < count) await new Promise((done) => setTimeout(done, 50))
  }
  await send(source, 1)
  await attempts(1)
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '8 days'")
  const [first] = await cabinet.addresses.log(failing.id)
  await cabinet.addresses.resend(first!.deliveryId)
  await attempts(2)
  const paused = await cabinet.addresses.get(failing.id)
  expect(paused).toMatchObject({ pausedBecause: "failing", pausedAt: expect.any(String) })
  await send(source, 2)
  await receiver.until(({ length }) => length === from + 3)
  expect(await cabinet.addresses.get(honest.id)).toMatchObject({ pausedAt: null, failingSince: null })
  status = 204
  await cabinet.addresses.resume(failing.id)
  const delivered = async () => (await cabinet.addresses.log(failing.id)).filter((one) => one.delivered).length
  while ((await delivered()) < 2) await new Promise((done) => setTimeout(done, 50))
  for (const giveUpAfterSeconds of [0, 59, 1.5, 1e9]) {
    const changed = cabinet.addresses.change(failing.id, { giveUpAfterSeconds })
    await expect(changed).rejects.toMatchObject({ code: "bad_give_up" })
  }
  server.close()
  server.closeAllConnections()
})
