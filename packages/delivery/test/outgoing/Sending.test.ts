/** Requests sent and responses received together are processed together; the courier's test covers the outcome of each. */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { Connections, loadLibrary } from "@data-cabinet/delivery/outgoing/Connections"
import { sender, type WholeRequest } from "@data-cabinet/delivery/outgoing/Sending"
import { Effect, Exit, Fiber } from "effect"
import { afterEach, beforeAll, expect, it } from "vitest"
import { answering, OK, rawReceiver, type Receiver } from "./hostileReceivers.ts"

beforeAll(() => Effect.runPromise(loadLibrary))

const open: Array<{ readonly close: () => unknown }> = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((made) => made.close()))
})

/** Sends one POST to this receiver. */
const sendingTo = ({ port, close }: Receiver) => {
  const connections = new Connections({})
  open.push({ close: () => connections.destroy() }, { close })
  const url = new URL(`http://127.0.0.1:${port}/hook`)
  const send = sender(connections)
  const request = { method: "POST", url, headers: {}, deadlineMillis: 120_000, readBytes: 100, keepBytes: 100 } as const
  return (more: Partial<WholeRequest> = {}) =>
    send({ origin: url.origin, addresses: ["127.0.0.1"] }, { body: Buffer.from("{}"), ...request, ...more }, Date.now())
}

it("sender reports responses after reading all that arrived together, and sends what follows in one write", async () => {
  const asked: Array<Socket> = []
  const receiver = await rawReceiver((socket) => {
    socket.on("data", () => {
      asked.push(socket)
      if (asked.length < 2) return
      for (const one of asked.splice(0)) one.write(OK)
      // Both have arrived before the sender, which runs in the same thread, can read either.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    })
  })
  const send = sendingTo(receiver)
  const order: Array<string> = []
  const read = () => order.push("read")
  const sent = () => order.push("sent")
  subscribe("undici:request:trailers", read)
  subscribe("undici:request:create", sent)
  const twice = Effect.andThen(
    Effect.tap(send(), () => Effect.sync(() => order.push("told"))),
    send(),
  )
  await Effect.runPromise(Effect.all([twice, twice], { concurrency: "unbounded" }))
  unsubscribe("undici:request:trailers", read)
  unsubscribe("undici:request:create", sent)
  const pair = (what: string) => [what, what]
  expect(order).toEqual(["sent", "read", "told", "sent", "read"].flatMap(pair))
  expect(receiver.connections()).toBe(2)
})

it("sender opens no connection for work that was aborted before it began", async () => {
  const receiver = await rawReceiver(answering(OK))
  const send = sendingTo(receiver)
  const fiber = Effect.runFork(send())
  fiber.interruptUnsafe()
  expect(Exit.hasInterrupts(await Effect.runPromise(Fiber.await(fiber)))).toBe(true)
  expect((await Effect.runPromise(send())).status).toBe(200)
  expect(receiver.connections()).toBe(1)
})

it("sender isolates a fault of one request from others that begin with it", async () => {
  const receiver = await rawReceiver(answering(OK))
  const send = sendingTo(receiver)
  const [broken, whole] = await Effect.runPromise(
    Effect.all([Effect.exit(send({ body: null as never })), Effect.exit(send())], { concurrency: "unbounded" }),
  )
  expect(Exit.hasDies(broken)).toBe(true)
  expect(Exit.isSuccess(whole)).toBe(true)
})
