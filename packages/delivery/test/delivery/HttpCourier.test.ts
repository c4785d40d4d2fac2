/** The courier against receivers with every misbehaviour. What must be refused is refused before a socket opens. */
import { Courier } from "@data-cabinet/core/delivery/Courier"
import { layer as courierLayer } from "@data-cabinet/delivery/delivery/HttpCourier"
import { layer as namesLayer } from "@data-cabinet/delivery/outgoing/NameLookup"
import { layer as clientLayer } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { parseNetworks } from "@data-cabinet/core/network/IpAddress"
import { Effect, Layer, ManagedRuntime } from "effect"
import { createServer } from "node:http"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import {
  answering,
  flood,
  makeCertificates,
  MISBEHAVIOURS,
  nameServer,
  OK,
  rawReceiver,
  type Receiver,
  tlsReceiver,
} from "../outgoing/hostileReceivers.ts"

const LOOPBACK = parseNetworks("127.0.0.0/8") as Exclude<ReturnType<typeof parseNetworks>, string>
const certificates = makeCertificates()
let flip = 0
let names: Awaited<ReturnType<typeof nameServer>>
let runtime: ManagedRuntime.ManagedRuntime<Courier, never>
/** For receivers that only a time limit can end. */
let hasty: ManagedRuntime.ManagedRuntime<Courier, never>
const open: Array<Receiver> = []

interface Limits {
  readonly allowed: typeof LOOPBACK
  readonly deadlineMillis?: number
  readonly namesMillis?: number
}

const runtimeOf = (options: Limits) =>
  ManagedRuntime.make(
    courierLayer({ deadlineMillis: options.deadlineMillis ?? 120_000 }).pipe(
      Layer.provide(clientLayer({ allowedNetworks: options.allowed, ca: [certificates.ca] })),
      Layer.provide(
        namesLayer({ servers: [names.server], hostsFile: "/dev/null", deadlineMillis: options.namesMillis ?? 60_000 }),
      ),
    ),
  )

const send = (url: string, body = "{}", on = runtime) =>
  on.runPromise(
    Courier.use((courier) =>
      courier.send({ method: "POST", url, headers: { "X-Service-Event": "ping" }, body: Buffer.from(body) }),
    ),
  )

const receiver = async (making: Promise<Receiver>): Promise<Receiver> => {
  const made = await making
  open.push(made)
  return made
}

beforeAll(async () => {
  names = await nameServer({
    "good.test": () => ["127.0.0.1"],
    "wrong.test": () => ["127.0.0.1"],
    "mixed.test": () => ["127.0.0.1", "10.0.0.1"],
    "private.test": () => ["192.168.1.1"],
    "silent.test": () => "silent",
    "empty.test": () => [],
    "crowd.test": () => Array.from({ length: 65 }, (_, n) => `127.0.1.${n}`),
    "many.test": () => Array.from({ length: 64 }, (_, n) => `127.0.1.${n}`),
    // Public when checked, private ever after: a second lookup would lead elsewhere.
    "rebinding.test": () => (flip++ === 0 ? ["127.0.0.1"] : ["10.0.0.1"]),
  })
  runtime = runtimeOf({ allowed: LOOPBACK })
  hasty = runtimeOf({ allowed: LOOPBACK, deadlineMillis: 2500 })
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((made) => made.close()))
})
afterAll(async () => {
  await runtime.dispose()
  await hasty.dispose()
  await names.close()
})

describe("HttpCourier.send returns", () => {
  it("the status, the address and the start of the response from a working receiver, over one kept-alive connection", async () => {
    const good = await receiver(rawReceiver(answering(OK)))
    for (let n = 0; n < 3; n++) {
      const outcome = await send(`http://good.test:${good.port}/hook?a=1`)
      expect(outcome).toMatchObject({ status: 200, failure: null, peer: "127.0.0.1", responseBody: "ok" })
      const phase = expect.any(Number)
      const connectMs = n === 0 ? phase : null
      expect(outcome.timing).toEqual({ nameMs: phase, connectMs, tlsMs: null, waitMs: phase, bodyMs: phase })
    }
    expect(good.connections()).toBe(1)
  })

  it("the exact bytes and headers arrive", async () => {
    let seen: { headers: Record<string, unknown>; body: Buffer; url: string | undefined } | undefined
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part) => parts.push(part))
      request.on("end", () => {
        seen = { headers: request.headers, body: Buffer.concat(parts), url: request.url }
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const { port } = server.address() as { port: number }
    const body = `{"я":"\\u00e9","big":"${"x".repeat(1_000_000)}"}`
    expect(await send(`http://127.0.0.1:${port}/p%20q?x=%D1%8F`, body)).toMatchObject({
      status: 204,
      responseBody: null,
    })
    expect(seen!.body.equals(Buffer.from(body))).toBe(true)
    expect(seen!.url).toBe("/p%20q?x=%D1%8F")
    expect(seen!.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      "x-service-event": "ping",
      "content-length": String(Buffer.byteLength(body)),
    })
    expect(seen!.headers["accept-encoding"]).toBeUndefined()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })

  it("a message for a refused connection", async () => {
    expect(await send(`http://127.0.0.1:${await closedPort()}/`)).toMatchObject({
      status: null,
      failure: "the connection was refused",
      peer: null,
      timing: { nameMs: null, connectMs: expect.any(Number), tlsMs: null, waitMs: 0, bodyMs: null },
    })
  })

  it.each(MISBEHAVIOURS)("the expected outcome for $name", async ({ behave, says, hangs }) => {
    const { port } = await receiver(rawReceiver(behave))
    const outcome = await send(`http://127.0.0.1:${port}/`, "{}", hangs === true ? hasty : runtime)
    expect(outcome).toMatchObject({ peer: "127.0.0.1", failure: says === null ? null : expect.stringContaining(says) })
    // A 2xx counts as delivered whatever happens to the body.
    if (says === null) expect([200, 204]).toContain(outcome.status)
    else expect(outcome.status).toBeNull()
    expect(outcome.durationMs).toBeLessThan(60_000)
  })

  it("an endless body is cut: 64 KB are read, 2 KB kept", async () => {
    const made = await receiver(rawReceiver(flood))
    const outcome = await send(`http://127.0.0.1:${made.port}/`)
    expect(outcome).toMatchObject({ status: 200, responseBody: "x".repeat(2048) })
    expect(made.sent()).toBeLessThan(20_000_000)
  })

  it("a redirect is a failure that is not followed, and its query is not shown", async () => {
    const inner = await receiver(rawReceiver(answering(OK)))
    const made = await receiver(
      rawReceiver(
        answering(
          `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${inner.port}/?token=hush\r\nContent-Length: 0\r\n\r\n`,
        ),
      ),
    )
    const outcome = await send(`http://127.0.0.1:${made.port}/`)
    expect(outcome).toMatchObject({
      status: 302,
      failure: `responded with 302, a redirect to http://127.0.0.1:${inner.port}/?…; redirects are not followed`,
    })
    expect(inner.connections()).toBe(0)
  })

  it("a kept-alive connection that was closed in between does not count as a failure", async () => {
    const made = await receiver(
      rawReceiver((socket) => {
        let requests = 0
        socket.on("data", () => {
          if (requests++ === 0) socket.write(OK)
          else socket.destroy()
        })
      }),
    )
    expect((await send(`http://127.0.0.1:${made.port}/`)).status).toBe(200)
    expect((await send(`http://127.0.0.1:${made.port}/`)).status).toBe(200)
    expect(made.connections()).toBe(2)
  })
})

describe("HttpCourier.send over TLS", () => {
  it("connects if a trusted authority certifies the name", async () => {
    const made = await receiver(tlsReceiver({ key: certificates.key, cert: certificates.cert }, answering(OK)))
    expect(await send(`https://good.test:${made.port}/`)).toMatchObject({
      status: 200,
      peer: "127.0.0.1",
      timing: { connectMs: expect.any(Number), tlsMs: expect.any(Number), waitMs: expect.any(Number) },
    })
  })

  it.each([
    ["a wrong name", "wrong.test", () => certificates.cert],
    ["a self-signed certificate", "good.test", () => certificates.selfSigned],
    ["an address instead of the name", "127.0.0.1", () => certificates.cert],
  ])("refuses %s", async (_name, host, cert) => {
    const made = await receiver(tlsReceiver({ key: certificates.key, cert: cert() }, answering(OK)))
    const outcome = await send(`https://${host}:${made.port}/`)
    expect(outcome).toMatchObject({ status: null, peer: "127.0.0.1" })
    expect(outcome.failure).toContain("the certificate was rejected")
  })

  it("reports a server that does not speak TLS", async () => {
    const made = await receiver(
      rawReceiver((socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))),
    )
    const outcome = await send(`https://good.test:${made.port}/`)
    expect(outcome.status).toBeNull()
    expect(outcome.failure).toMatch(/TLS/)
  })
})

describe("HttpCourier.send refuses before a socket opens", () => {
  it("a name with one public and one private address", async () => {
    const made = await receiver(rawReceiver(answering(OK)))
    const outcome = await send(`http://mixed.test:${made.port}/`)
    expect(outcome).toMatchObject({ status: null, peer: null })
    expect(outcome.failure).toBe(
      "mixed.test resolves to 10.0.0.1, which is not a public address: it is in 10.0.0.0/8 (private use)",
    )
    expect(made.connections()).toBe(0)
  })

  it.each([
    "http://localhost",
    "http://127.0.0.1",
    "http://0x7f.1",
    "http://2130706433",
    "http://[::ffff:127.0.0.1]",
    "http://good.test",
    "http://0.0.0.0",
    "http://sub.localhost",
    "http://127.0.0.1.",
  ])("%s when no network is allowed", async (origin) => {
    const made = await receiver(rawReceiver(answering(OK)))
    const strict = runtimeOf({ allowed: [] })
    const outcome = await send(`${origin}:${made.port}/`, "{}", strict)
    await strict.dispose()
    expect(outcome.failure).toContain("is not a public address")
    expect(outcome.peer).toBeNull()
    expect(made.connections()).toBe(0)
  })

  it("a name that resolves elsewhere the second time, while the connection goes to the checked address", async () => {
    const made = await receiver(rawReceiver(answering(OK)))
    const before = names.queries()
    expect(await send(`http://rebinding.test:${made.port}/`)).toMatchObject({ status: 200, peer: "127.0.0.1" })
    expect(names.queries() - before).toBe(2)
    await Effect.runPromise(Effect.sleep(1100))
    const outcome = await send(`http://rebinding.test:${made.port}/`)
    expect(outcome.failure).toContain("10.0.0.1")
  })

  it("a name with too many addresses to check each time", async () => {
    const made = await receiver(rawReceiver(answering(OK)))
    expect(await send(`http://crowd.test:${made.port}/`)).toMatchObject({
      status: null,
      peer: null,
      failure: "the name crowd.test has 65 addresses, more than 64",
    })
    expect(made.connections()).toBe(0)
    expect((await send(`http://many.test:${made.port}/`)).failure).not.toContain("addresses")
  })

  it("a name without an address, and one whose name server never responds, without delay for other lookups", async () => {
    expect((await send("http://empty.test/")).failure).toContain("has no address")
    const made = await receiver(rawReceiver(answering(OK)))
    let ended = 0
    const waiting = runtimeOf({ allowed: LOOPBACK })
    for (let n = 0; n < 20; n++)
      void send("http://silent.test/", "{}", waiting)
        .finally(() => ended++)
        .catch(() => {})
    const good = await send(`http://good.test:${made.port}/`, "{}", waiting)
    expect([good.status, ended]).toEqual([200, 0])
    await waiting.dispose()
    const impatient = runtimeOf({ allowed: LOOPBACK, namesMillis: 500 })
    const outcome = await send("http://silent.test/", "{}", impatient)
    expect(outcome).toMatchObject({ status: null, peer: null })
    expect(outcome.failure).toContain("the name servers did not respond")
    await impatient.dispose()
  })
})

const closedPort = async (): Promise<number> => {
  const made = await rawReceiver(() => {})
  await made.close()
  return made.port
}
