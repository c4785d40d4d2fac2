/** Client certificates on the wire: which receivers see them, and what is reported when a receiver rejects one. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { readIdentity } from "@data-cabinet/core/delivery/ClientCertificate"
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import { Courier } from "@data-cabinet/core/delivery/Courier"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { layer as courierLayer } from "@data-cabinet/delivery/delivery/HttpCourier"
import { layer as namesLayer } from "@data-cabinet/delivery/outgoing/NameLookup"
import { layer as clientLayer } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { Layer, ManagedRuntime, Result } from "effect"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { Authority, type Issued } from "../../../../test/support/certificates.ts"
import { type IdentifiedReceiver, startIdentifiedReceiver } from "../../../../test/support/identifiedReceiver.ts"

const servers = new Authority("servers")
const clients = new Authority("clients")
const strangers = new Authority("strangers")
const server = servers.issue("receiver")
const dir = mkdtempSync(join(tmpdir(), "dc-mtls-"))
let receiver: IdentifiedReceiver
const started: Array<ChildProcess> = []

const runtime = ManagedRuntime.make(
  courierLayer({ deadlineMillis: 60_000 }).pipe(
    Layer.provide(clientLayer({ allowedNetworks: [parseNetwork("127.0.0.0/8")!], ca: [servers.cert] })),
    Layer.provide(namesLayer({ hostsFile: "/dev/null" })),
  ),
)

const identityOf = ({ cert, key }: Issued): ClientIdentity =>
  Result.getOrThrow(readIdentity({ certificate: cert, key }))

const send = (url: string, identity?: ClientIdentity) =>
  runtime.runPromise(
    Courier.use((courier) =>
      courier.send({
        method: "POST",
        url,
        headers: {},
        body: Buffer.from("{}"),
        ...(identity === undefined ? {} : { identity }),
      }),
    ),
  )

/** OpenSSL's own server, which reports by an alert why it rejects a certificate; Node's just closes the connection. */
const startAlerting = async (...words: ReadonlyArray<string>): Promise<string> => {
  for (const [name, text] of Object.entries({ "s.pem": server.cert, "s.key": server.key, "ca.pem": clients.cert })) {
    writeFileSync(join(dir, name), text)
  }
  const files = ["-cert", "s.pem", "-key", "s.key", "-CAfile", "ca.pem"]
  const demands = ["-Verify", "1", "-verify_return_error"]
  const child = spawn("openssl", ["s_server", "-accept", "127.0.0.1:0", ...files, ...demands, ...words], {
    cwd: dir,
    stdio: ["pipe", "pipe", "ignore"],
  })
  started.push(child)
  for await (const line of createInterface(child.stdout!)) {
    const port = /^ACCEPT 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return `https://127.0.0.1:${port}/`
  }
  throw new Error("openssl did not start")
}

beforeAll(async () => {
  receiver = await startIdentifiedReceiver(server, [clients.cert])
})
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill()
    await once(child, "exit")
  }
})
afterAll(async () => {
  await runtime.dispose()
  await receiver.close()
  for (const authority of [servers, clients, strangers]) authority.remove()
  rmSync(dir, { recursive: true })
})

it("a receiver that demands a certificate is reached only with it and its chain", async () => {
  const identity = identityOf(clients.issue("one"))
  expect(await send(`${receiver.origin}/`, identity)).toMatchObject({ status: 204, failure: null, peer: "127.0.0.1" })
  expect(receiver.received.at(-1)!.client).toBe("one")
  // The receiver knows only the root, so the intermediate certificates have to be sent.
  const middle = clients.issue("middle", { authority: true })
  const issuer = new Authority("middle", middle)
  const { cert, key } = issuer.issue("behind a chain")
  issuer.remove()
  expect(await send(`${receiver.origin}/`, identityOf({ cert: `${cert}${middle.cert}`, key }))).toMatchObject({
    status: 204,
  })
  expect(receiver.received.at(-1)!.client).toBe("behind a chain")
  const before = receiver.received.length
  for (const unfit of [undefined, identityOf({ cert, key }), identityOf(strangers.issue("stranger"))]) {
    const outcome = await send(`${receiver.origin}/`, unfit)
    expect(outcome).toMatchObject({ status: null, peer: "127.0.0.1" })
    const words =
      unfit === undefined
        ? /^the receiver demands a client certificate$/
        : /^the connection was (closed before a response arrived|reset); perhaps the receiver does not accept the client certificate$/
    expect(outcome.failure).toMatch(words)
  }
  expect(receiver.received).toHaveLength(before)
})

it("two certificates for one origin are never mixed, however many requests there are at once, and connections are kept", async () => {
  const own = Object.fromEntries(["a", "b", "c"].map((name) => [name, identityOf(clients.issue(name))]))
  const from = receiver.received.length
  const connectionsBefore = receiver.connections()
  for (let round = 0; round < 8; round++) {
    const sent = Array.from({ length: 24 }, (_, n) => ["a", "b", "c"][n % 3]!)
    const outcomes = await Promise.all(sent.map((name) => send(`${receiver.origin}/${name}`, own[name])))
    expect(outcomes.every(({ status }) => status === 204)).toBe(true)
  }
  const seen = receiver.received.slice(from)
  expect(seen).toHaveLength(192)
  for (const { client, path } of seen) expect(path).toBe(`/${client}`)
  // Each connection belongs to one client, which reuses it.
  const clientsOf = Map.groupBy(seen, ({ connection }) => connection)
  for (const used of clientsOf.values()) expect(new Set(used.map(({ client }) => client)).size).toBe(1)
  expect(receiver.connections() - connectionsBefore).toBeLessThanOrEqual(48)
  // A request without a certificate uses none of these connections.
  expect(await send(`${receiver.origin}/`)).toMatchObject({ status: null })
  expect(receiver.received).toHaveLength(from + 192)
})

it.each([
  ["TLS 1.3", "-tls1_3", "none", /^the receiver demands a client certificate$/],
  [
    "TLS 1.3",
    "-tls1_3",
    "a stranger's",
    /^the receiver refused the client certificate: it does not know the authority/,
  ],
  ["TLS 1.3", "-tls1_3", "an expired one", /^the receiver refused the client certificate: it has expired$/],
  ["TLS 1.2", "-tls1_2", "none", /^the TLS handshake failed/],
  [
    "TLS 1.2",
    "-tls1_2",
    "a stranger's",
    /^the receiver refused the client certificate: it does not know the authority/,
  ],
  ["TLS 1.2", "-tls1_2", "an expired one", /^the receiver refused the client certificate: it has expired$/],
] as const)(
  "the alert of a receiver over %s (%s) that is sent %s is reported in words",
  async (_name, version, which, words) => {
    const url = await startAlerting(version)
    const issued = {
      none: undefined,
      "a stranger's": strangers.issue("stranger"),
      "an expired one": clients.issue("late", { from: -9, to: -1 }),
    }[which]
    const outcome = await send(url, issued === undefined ? undefined : identityOf(issued))
    expect(outcome).toMatchObject({ status: null })
    expect(outcome.failure).toMatch(words)
  },
)

it("a certificate that OpenSSL refuses fails only its own attempt, with the reason", async () => {
  const weak = clients.issue("weak", { key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"] })
  const outcome = await send(`${receiver.origin}/`, { certificate: weak.cert, key: weak.key })
  expect(outcome).toMatchObject({ status: null, peer: null })
  expect(outcome.failure).toMatch(/^the client certificate cannot be used: .*key too small/)
  expect(outcome.failure).not.toContain(weak.key.split("\n")[1])
  expect(await send(`${receiver.origin}/`, identityOf(clients.issue("strong")))).toMatchObject({ status: 204 })
})
