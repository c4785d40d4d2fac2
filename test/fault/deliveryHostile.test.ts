/** Every misbehaviour of a receiver, all at the same time: each leaves its attempt in the log, and the loop continues. */
import { once } from "node:events"
import { connect } from "node:net"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { ManagedRuntime } from "effect"
import { afterEach, expect, it } from "vitest"
import {
  answering,
  makeCertificates,
  MISBEHAVIOURS,
  nameServer,
  OK,
  rawReceiver,
  tlsReceiver,
} from "../../packages/delivery/test/outgoing/hostileReceivers.ts"
import { openDeliveryCabinet } from "../../packages/store-pg/test/delivery/deliveryCabinet.ts"
import { deliveryLayer } from "./deliveryLayers.ts"

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
const closed = <A extends { readonly close: () => Promise<unknown> }>(made: A): A => {
  closing.push(made.close)
  return made
}

interface Case {
  readonly name: string
  readonly url: string
  /** Null: taken. */
  readonly says: string | null
  /** False if no socket may be opened. */
  readonly connected: boolean
}

it("every kind of misbehaviour leaves the right attempt in the log, and the loop healthy", async () => {
  const certificates = makeCertificates()
  const names = closed(
    await nameServer({
      "good.test": () => ["127.0.0.1"],
      "wrong.test": () => ["127.0.0.1"],
      "mixed.test": () => ["127.0.0.1", "10.0.0.1"],
      "silent.test": () => "silent",
      "empty.test": () => [],
    }),
  )
  const inner = closed(await rawReceiver(answering(OK)))
  const never = closed(await rawReceiver(answering(OK)))
  const redirecting = closed(
    await rawReceiver(
      answering(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${inner.port}/\r\nContent-Length: 0\r\n\r\n`),
    ),
  )
  const tls = closed(await tlsReceiver({ key: certificates.key, cert: certificates.cert }, answering(OK)))
  const self = closed(await tlsReceiver({ key: certificates.key, cert: certificates.selfSigned }, answering(OK)))
  // Binds one end of a connection: a port on which nobody listens, but that no other test can get.
  const other = closed(await rawReceiver(() => {}))
  const end = connect(other.port, "127.0.0.1")
  await once(end, "connect")
  closing.push(async () => end.destroy())
  const gone = { port: end.localPort! }
  const to = (name: string, url: string, says: string | null, connected = true): Case => ({
    name,
    url,
    says,
    connected,
  })
  const cases: Array<Case> = [
    to("refuses", `http://127.0.0.1:${gone.port}/`, "the connection was refused", false),
    to("redirects", `http://127.0.0.1:${redirecting.port}/`, "redirects are not followed"),
    to("wrong name", `https://wrong.test:${tls.port}/`, "the certificate was rejected"),
    to("self-signed", `https://good.test:${self.port}/`, "the certificate was rejected"),
    to("right name", `https://good.test:${tls.port}/`, null),
    to("one private address", `http://mixed.test:${never.port}/`, "mixed.test resolves to 10.0.0.1", false),
    to("a private address", `http://10.0.0.1:${never.port}/`, "is not a public address", false),
    to("no name", `http://empty.test:${never.port}/`, "has no address", false),
    to("a silent name server", `http://silent.test:${never.port}/`, "the name servers did not respond", false),
  ]
  for (const { name, behave, says } of MISBEHAVIOURS) {
    const made = closed(await rawReceiver(behave))
    cases.push(to(name, `http://127.0.0.1:${made.port}/`, says))
  }
  const cabinet = closed(await openDeliveryCabinet())
  const source = await cabinet.source()
  const ids: Array<number> = []
  for (const { url } of cases) ids.push((await cabinet.book((book) => book.create({ url, sources: "all" }))).id)
  const runtime = ManagedRuntime.make(
    deliveryLayer(cabinet.url, {
      pollMillis: 200,
      // Only silent receivers take this long, and all of them at the same time.
      deadlineMillis: 8000,
      lookupMillis: 6000,
      servers: [names.server],
      ca: [certificates.ca],
    }),
  )
  closing.push(() => runtime.dispose())
  const wake = () => runtime.runPromise(DeliverySignal.use((signal) => signal.wake))
  const attempts = async () => (await cabinet.run("SELECT count(*)::int AS n FROM cabinet.attempt"))[0]!["n"] as number
  const until = async (count: number) => {
    while ((await attempts()) < count) await new Promise((done) => setTimeout(done, 20))
  }

  const [event] = await cabinet.accept(source)
  await wake()
  await until(cases.length)
  // All at once: half a minute after its first attempt, a case is tried again.
  const logs = await Promise.all(ids.map((addressId) => cabinet.queue((queue) => queue.log({ addressId, limit: 9 }))))
  for (const [at, { name, says, connected }] of cases.entries()) {
    const log = logs[at]!
    expect(log, name).toHaveLength(1)
    expect(log[0], name).toMatchObject({
      eventId: event,
      number: 1,
      delivered: says === null,
      failure: says === null ? null : expect.stringContaining(says),
      nextAt: says === null ? null : expect.any(String),
      peer: connected ? "127.0.0.1" : null,
    })
    expect(log[0]!.responseBody?.length ?? 0, name).toBeLessThanOrEqual(2048)
  }
  expect([inner.connections(), never.connections()]).toEqual([0, 0])

  // The same half a minute later, with a healthy receiver that is not delayed by them.
  const good = closed(await rawReceiver(answering(OK)))
  const { id } = await cabinet.book((book) => book.create({ url: `http://127.0.0.1:${good.port}/`, sources: [source] }))
  await cabinet.pass("31 seconds")
  await cabinet.accept(source, 20)
  await wake()
  const delivered = "SELECT count(*)::int AS n FROM cabinet.attempt WHERE delivered AND address_id = "
  while ((await cabinet.run(delivered + String(id)))[0]!["n"] !== 20) await new Promise((done) => setTimeout(done, 20))
  // All others get their second attempt as well.
  const again = "SELECT count(DISTINCT delivery_id)::int AS n FROM cabinet.attempt WHERE number = 2"
  const failing = cases.filter(({ says }) => says !== null).length
  while (((await cabinet.run(again))[0]!["n"] as number) < failing) await new Promise((done) => setTimeout(done, 20))
  expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ stuck: 0 })
})
