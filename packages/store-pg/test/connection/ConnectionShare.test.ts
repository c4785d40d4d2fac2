/** How many connections a process holds, and which pool releases one when another needs it. */
import { Duplex } from "node:stream"
import { once } from "node:events"
import { ConnectionShare } from "@data-cabinet/store-pg/connection/ConnectionShare"
import { type Connections, shareOf } from "@data-cabinet/store-pg/connection/FitConnections"
import { assert, describe, it, vi } from "vitest"

/** A connection without a server: it responds when the test says so. */
const newSocket = () => new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
const respond = (socket: Duplex) => {
  socket.resume()
  const received = once(socket, "data")
  socket.push("R")
  return received
}
const close = (socket: Duplex) => {
  const closed = once(socket, "close")
  socket.destroy()
  return closed
}

describe("ConnectionShare", () => {
  it("takes an idle session from the other pools when a connection would exceed the limit", async () => {
    const share = new ConnectionShare()
    share.fit(1)
    const [idle, next] = [newSocket(), newSocket()]
    const started: Array<Duplex> = []
    share.admit(idle, () => started.push(idle))
    await respond(idle)
    share.join(() => !idle.destroy().destroyed)
    share.admit(next, () => started.push(next))
    await once(idle, "close")
    assert.deepStrictEqual(started, [idle, next])
  })

  it("starts no second attempt while a server does not respond to the first", async () => {
    const share = new ConnectionShare()
    const sockets = Array.from({ length: 40 }, newSocket)
    const started: Array<Duplex> = []
    for (const socket of sockets) share.admit(socket, () => started.push(socket))
    assert.lengthOf(started, 8)
    // None of them responded before its timeout.
    await Promise.all(started.slice().map(close))
    assert.lengthOf(started, 9)
    await close(started[8]!)
    assert.lengthOf(started, 10)
    await respond(started[9]!)
    assert.lengthOf(started, 18)
    for (const socket of sockets) socket.destroy()
  })

  it("lets the server decide about an attempt that waited behind an unanswered one", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      const share = new ConnectionShare()
      share.fit(1)
      const [kept, lost, slow, last] = [newSocket(), newSocket(), newSocket(), newSocket()]
      const started: Array<Duplex> = []
      const admit = (socket: Duplex) => share.admit(socket, () => started.push(socket))
      admit(kept)
      await respond(kept)
      admit(lost)
      vi.advanceTimersByTime(1_000)
      await close(lost)
      for (const socket of [slow, last]) admit(socket)
      vi.advanceTimersByTime(1_000)
      assert.deepStrictEqual(started, [kept, lost, slow])
      await respond(slow)
      vi.advanceTimersByTime(1_000)
      assert.deepStrictEqual(started, [kept, lost, slow, last])
      for (const socket of [kept, slow, last]) socket.destroy()
    } finally {
      vi.useRealTimers()
    }
  })

  it("closes idle sessions above a lowered limit", () => {
    const share = new ConnectionShare()
    const sockets = Array.from({ length: 5 }, newSocket)
    let given = 0
    for (const socket of sockets) share.admit(socket, () => {})
    share.join(() => ++given > 0)
    share.fit(3)
    assert.strictEqual(given, 2)
  })
})

describe("shareOf", () => {
  const found: Connections = {
    server_limit: 97,
    role_limit: -1,
    database_limit: -1,
    on_server: 0,
    of_role: 0,
    in_database: 0,
    processes: 0,
  }
  it.each([
    ["two processes and three for commands when nothing else is known", {}, 45],
    ["the limit of the role", { role_limit: 23 }, 8],
    ["the limit of the database", { database_limit: 23 }, 8],
    ["what other programs use", { on_server: 40 }, 25],
    ["the processes that run already", { processes: 4 }, 21],
    ["a few where nothing is left", { server_limit: 3 }, 4],
  ])("accounts for %s", (_, changed, share) => {
    assert.strictEqual(shareOf({ ...found, ...changed }), share)
  })

  it("divides the limit among the supervisor's processes", () => {
    assert.strictEqual(shareOf(found, 8), 9)
  })
})
