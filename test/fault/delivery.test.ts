/** The whole path of a delivery (accepted, claimed, sent, settled), and what happens on failures. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { verifyDelivery } from "@data-cabinet/core/delivery/VerifyDelivery"
import { Effect, ManagedRuntime } from "effect"
import Stripe from "stripe"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "../../packages/store-pg/test/delivery/deliveryCabinet.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { deliveryLayer } from "./deliveryLayers.ts"
import { type Answering, openReceiver } from "./deliveryReceiver.ts"

const WORKER = program(new URL("deliveryWorker.ts", import.meta.url))

let cabinet: DeliveryCabinet
let source: number
const closing: Array<() => Promise<unknown>> = []
beforeEach(async () => {
  cabinet = await openDeliveryCabinet()
  source = await cabinet.source()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await cabinet.close()
})

/** Longer than a test: a hanging request hangs until its end, and no other becomes late or slow, however busy the machine is. */
const HANGS = 400_000

const receiver = async (answer?: Answering, thinkMillis?: number) => {
  const made = await openReceiver(answer, thinkMillis)
  closing.push(made.close)
  return made
}
const worker = (options: Parameters<typeof deliveryLayer>[1] = {}) => {
  const runtime = ManagedRuntime.make(
    deliveryLayer(cabinet.url, { pollMillis: 200, drainMillis: 500, deadlineMillis: HANGS, ...options }),
  )
  closing.push(() => runtime.dispose())
  return runtime
}
const address = (url: string) => cabinet.book((book) => book.create({ url, sources: "all" }))
const states = async () => {
  const rows = await cabinet.run(
    "SELECT state, count(*)::int AS n FROM cabinet.delivery_all GROUP BY state ORDER BY state",
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}
const until = async (holds: () => Promise<boolean> | boolean) => {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 20))
}
const settled = (count: number) => until(async () => (await states())["delivered"] === count)
const start = (runtime: ReturnType<typeof worker>) => runtime.runPromise(DeliverySignal.use((signal) => signal.wake))

describe("the delivery loop", () => {
  it("delivers every event once, signed, with the event's own text", async () => {
    const good = await receiver()
    const { secret } = await address(good.url)
    const events = await cabinet.accept(source, 1000, `{"z":1.0,"a":12345678901234567890,"имя":"\\u00e9Ё"}`)
    await start(worker())
    await settled(1000)
    expect(good.arrivals).toHaveLength(1000)
    expect(good.ids()).toHaveLength(1000)
    const seen = good.arrivals.map(({ body }) => JSON.parse(body.toString()).data.id as number)
    expect(seen.sort((a, b) => a - b)).toEqual(events)
    const { body, headers } = good.arrivals[0]!
    expect(body.toString()).toContain(`"payload":{"z":1.0,"a":12345678901234567890,"имя":"\\u00e9Ё"}`)
    expect(headers).toMatchObject({ "x-service-event": "event.received", "content-type": "application/json" })
    expect(verifyDelivery(body, String(headers["x-service-signature"]), secret)).toBe(true)
    expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ due: 0, stuck: 0, retrying: 0 })
  })

  it.each([
    ["non-ASCII", `{"имя":"Ёлка 🎄"}`],
    ["escapes", `{"a":"\\u00e9\\/\\n\\ud83c\\udf84"}`],
    ["1 MB", `{"big":"${"я".repeat(500_000)}"}`],
  ])("signs as another implementation of the scheme does: %s", async (_name, payload) => {
    const good = await receiver()
    const { id, secret } = await address(good.url)
    await cabinet.book((book) => book.rotateSecret(id))
    const { secret: newest } = await cabinet.book((book) => book.get(id))
    await cabinet.accept(source, 1, payload)
    await start(worker())
    await good.received(1)
    const { body, headers } = good.arrivals[0]!
    for (const key of [newest, secret]) {
      const event = Stripe.webhooks.constructEvent(body, String(headers["x-service-signature"]), key)
      expect(event.type).toBe("event.received")
    }
    expect(() => Stripe.webhooks.constructEvent(body, String(headers["x-service-signature"]), "whsec_other")).toThrow()
  })

  it("follows the schedule from 30 seconds to a day, and never gives up", async () => {
    const down = await receiver(() => 500)
    const { id } = await address(down.url)
    await cabinet.accept(source)
    const runtime = worker()
    await start(runtime)
    const seconds = [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 30_720, 61_440, 86_400, 86_400]
    for (const [n, wait] of seconds.entries()) {
      await until(async () => (await cabinet.run("SELECT count(*)::int AS n FROM cabinet.attempt"))[0]!["n"] === n + 1)
      await cabinet.pass(`${wait / 2} seconds`)
      expect(
        await runtime.runPromise(
          DeliveryQueue.use((queue) =>
            queue.claim({ lane: "failing", limit: 1, perAddress: 1, room: new Map(), after: 0, leaseSeconds: 60 }),
          ),
        ),
      ).toEqual([])
      await cabinet.pass(`${wait / 2} seconds`)
      await start(runtime)
    }
    await down.received(15)
    expect(down.ids()).toHaveLength(1)
    await until(async () => (await cabinet.queue((queue) => queue.log({ addressId: id, limit: 99 }))).length === 15)
    const log = (await cabinet.queue((queue) => queue.log({ addressId: id, limit: 99 }))).toReversed()
    expect(log.map(({ number, status }) => [number, status])).toEqual(log.map((_, n) => [n + 1, 500]))
    for (const [n, wait] of seconds.entries()) {
      // Counted from the end of the failed attempt, so a little more than from its start; the next interval is twice as long.
      const gap = (Date.parse(log[n]!.nextAt!) - Date.parse(log[n]!.at)) / 1000
      expect(gap).toBeGreaterThanOrEqual(wait)
      expect(gap).toBeLessThan(wait * 1.5)
    }
  })

  it("an address that hangs delays no other, and gets no more than its limit", async () => {
    const slow = await receiver(() => "hang")
    const fast = await receiver()
    await address(slow.url)
    await address(fast.url)
    await cabinet.accept(source, 1000)
    await start(worker())
    await fast.received(1000)
    expect(slow.most()).toBeLessThanOrEqual(2)
    expect(slow.arrivals.length).toBeLessThanOrEqual(2)
  })

  it("hundreds of failing addresses cost a healthy one nothing", async () => {
    const slow = await receiver(() => "hang")
    const fast = await receiver()
    const { id } = await address(fast.url)
    await cabinet.run(`INSERT INTO cabinet.address (url, secret, every_source, failing_since, unanswered)
      SELECT '${slow.url}', 's', true, cabinet.now(), true FROM generate_series(1, 600)`)
    await cabinet.accept(source, 3)
    const runtime = worker({ failing: { slots: 50 } })
    await start(runtime)
    await until(() => slow.arrivals.length === 50)
    await cabinet.run(`INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
      SELECT ${id}, (SELECT min(id) FROM cabinet.event), cabinet.now(), cabinet.now() FROM generate_series(1, 500)`)
    await start(runtime)
    await fast.received(503)
    expect(slow.arrivals).toHaveLength(50)
  })

  it("an address that refuses one attempt in seven gets the others at once, in the healthy lane", async () => {
    let count = 0
    const shaky = await receiver(() => (++count % 7 === 0 ? 500 : 200), 100)
    const { id } = await address(shaky.url)
    await cabinet.accept(source, 700)
    // The failing lane serves nothing here, so a delivery that moved there would stay.
    await start(worker({ failing: { slots: 0 }, healthy: { slowMillis: HANGS } }))
    await shaky.received(700)
    expect(shaky.ids()).toHaveLength(700)
    // Six successes between two failures: more requests were open than if each failure reset the limit.
    expect(shaky.most()).toBeGreaterThan(10)
    await until(async () => (await states())["delivered"] === 600)
    expect(await cabinet.run(`SELECT unanswered FROM cabinet.address WHERE id = ${id}`)).toEqual([
      { unanswered: false },
    ])
  })

  it("addresses that begin to hang return their slots", async () => {
    const slow = await receiver(() => "hang")
    const fast = await receiver()
    for (let n = 0; n < 20; n++) await address(slow.url)
    await address(fast.url)
    await cabinet.accept(source, 30)
    await start(worker({ healthy: { slots: 10, slowMillis: 100 } }))
    await fast.received(30)
    expect(slow.arrivals.length).toBeLessThanOrEqual(40)
  })

  it("two workers share the work and send nothing twice", async () => {
    const good = await receiver()
    await address(good.url)
    const [one, two] = [worker(), worker()]
    await cabinet.accept(source, 600)
    await Promise.all([start(one), start(two)])
    await settled(600)
    expect(good.arrivals).toHaveLength(600)
  })

  it("is woken by another process, without waiting for its own poll", async () => {
    const good = await receiver()
    await address(good.url)
    await start(worker({ pollMillis: 3_600_000 }))
    await until(
      async () =>
        (
          await cabinet.run(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'",
          )
        ).length > 0,
    )
    const other = worker({ loop: false })
    for (const count of [1, 2]) {
      // Long enough that the loop has found nothing and waits, so that only the notification can wake it.
      await new Promise((done) => setTimeout(done, 500))
      await cabinet.accept(source)
      await start(other)
      await good.received(count)
    }
  })

  it("sessions cut at every moment lose nothing", async () => {
    const good = await receiver()
    await address(good.url)
    const runtime = worker({ leaseSeconds: 2 })
    await cabinet.accept(source, 400)
    await start(runtime)
    for (let cut = 0; cut < 8; cut++) {
      await good.received(Math.min(400, (cut + 1) * 40))
      await cabinet.run(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'cabinet'",
      )
    }
    await settled(400)
    expect(good.ids()).toHaveLength(400)
    expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ due: 0, stuck: 0 })
  })

  it("closing waits briefly, then records what got no response, and leaves nothing claimed", async () => {
    const slow = await receiver(() => "hang")
    const { id } = await address(slow.url)
    await cabinet.accept(source, 5)
    const runtime = worker({ drainMillis: 50 })
    await start(runtime)
    await slow.received(2)
    await runtime.dispose()
    expect(await cabinet.run("SELECT 1 FROM cabinet.delivery WHERE claimed_at IS NOT NULL")).toEqual([])
    const log = await cabinet.queue((queue) => queue.log({ addressId: id, limit: 9 }))
    expect(log.map(({ failure }) => failure)).toEqual(
      log.map(() => "the service was stopped before a response arrived"),
    )
    expect(log).toHaveLength(2)
  })
})

describe("kill -9 of a worker", () => {
  it.each([
    ["claimed", 0],
    ["sent", 1],
    ["settled", 1],
  ])("after it has %s loses nothing, and repeats carry the same id", async (step, before) => {
    const good = await receiver()
    const { id } = await address(good.url)
    await cabinet.accept(source, 40)
    const child = spawn(process.execPath, [...PROGRAM_FLAGS, WORKER, cabinet.url, step], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...compileCache() },
    })
    const [, signal] = await once(child, "exit")
    expect(signal).toBe("SIGKILL")
    expect(good.arrivals.length).toBeGreaterThanOrEqual(before)
    await cabinet.pass("61 seconds")
    await start(worker())
    await settled(40)
    const made = (await cabinet.run("SELECT id::float8 AS id FROM cabinet.delivery_all ORDER BY id")).map(
      (row) => row["id"],
    )
    expect(good.ids()).toEqual(made)
    const log = await cabinet.queue((queue) => queue.log({ addressId: id, limit: 200 }))
    const lost = log.filter(({ failure }) => failure?.startsWith("the worker ended"))
    if (step !== "settled") expect(lost.length).toBeGreaterThan(0)
    expect(log.filter(({ delivered }) => delivered)).toHaveLength(40)
    // The attempts of each delivery are numbered without gaps.
    for (const delivery of made) {
      const numbers = log
        .filter(({ deliveryId }) => deliveryId === delivery)
        .map(({ number }) => number)
        .sort((a, b) => a - b)
      expect(numbers).toEqual(numbers.map((_, n) => n + 1))
    }
    expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ due: 0, stuck: 0, retrying: 0 })
  })
})

describe("Addresses", () => {
  it("refuses an address that is not public when it is saved, and opens no socket to it", async () => {
    const good = await receiver()
    const runtime = worker({ loop: false })
    const create = (url: string) =>
      runtime.runPromise(Effect.flip(Addresses.use((addresses) => addresses.create({ url, sources: "all" }))))
    expect(await create("http://10.1.2.3/")).toMatchObject({
      code: "not_public",
      message: expect.stringMatching(
        /^10\.1\.2\.3 is not a public address: it is in 10\.0\.0\.0\/8 \(private use\)\. .*SSRF.*CABINET_ALLOWED_NETWORKS, both for the server and for the command/,
      ) as string,
    })
    expect(await create("http://[::1]/")).toMatchObject({ code: "not_public" })
    expect(await create("ftp://example.com/")).toMatchObject({ code: "bad_url" })
    expect(await runtime.runPromise(AddressStore.use((book) => book.list({ after: 0, limit: 100 })))).toEqual([])
    expect(good.arrivals).toEqual([])
  })

  it("pings immediately, logs it, and does not repeat it", async () => {
    const answers = [204, 500]
    const good = await receiver(() => answers.shift()!)
    const runtime = worker({ loop: false })
    const { id, secret } = await runtime.runPromise(
      Addresses.use((addresses) => addresses.create({ url: good.url, sources: [source] })),
    )
    const ping = () => runtime.runPromise(Addresses.use((addresses) => addresses.ping(id)))
    expect(await ping()).toMatchObject({ delivered: true, status: 204, peer: "127.0.0.1" })
    expect(await ping()).toMatchObject({ delivered: false, status: 500 })
    const { body, headers } = good.arrivals[0]!
    expect(Object.keys(JSON.parse(body.toString()))).toEqual(["id", "type", "created_at"])
    expect(headers["x-service-event"]).toBe("ping")
    expect(verifyDelivery(body, String(headers["x-service-signature"]), secret)).toBe(true)
    expect(await states()).toEqual({ delivered: 1, failed: 1 })
    expect(await cabinet.queue((queue) => queue.log({ addressId: id, limit: 9 }))).toMatchObject([
      { status: 500, nextAt: null },
      { status: 204 },
    ])
  })
})
