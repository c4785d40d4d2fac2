import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { afterEach, assert, beforeEach, it, vi } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { IncomingBody } from "../../src/intake/IncomingBody.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

const LIMITS = { maxBytes: 1_000_000, idle: 1_000, total: 5_000, buffered: 2_000_000, store: 1_000 }

const incoming = () => {
  const source = new PassThrough()
  const budget = { held: 0 }
  const body = new IncomingBody(source as unknown as IncomingMessage, LIMITS, budget)
  return { source, budget, body }
}

const settled = () => new Promise<void>((done) => setImmediate(() => setImmediate(done)))

const failure = (exit: Exit.Exit<Uint8Array, unknown>) => (Exit.isFailure(exit) ? String(exit.cause) : "none")

it("a sender has the idle time anew with every byte", async () => {
  const { source, body } = incoming()
  const exit = Effect.runPromiseExit(body.whole)
  for (let n = 0; n < 4; n++) {
    source.write("x")
    await settled()
    vi.advanceTimersByTime(900)
  }
  source.end()
  assert.deepStrictEqual(await exit, Exit.succeed(Buffer.from("xxxx") as Uint8Array))
})

it("a sender is given up when the idle time passes, or the total though bytes keep coming", async () => {
  const idle = incoming()
  const first = Effect.runPromiseExit(idle.body.whole)
  vi.advanceTimersByTime(1_000)
  assert.include(failure(await first), "did not arrive in time")
  const total = incoming()
  const second = Effect.runPromiseExit(total.body.whole)
  for (let n = 0; n < 6; n++) {
    total.source.write("x")
    await settled()
    vi.advanceTimersByTime(900)
  }
  assert.include(failure(await second), "did not arrive in time")
})

it("what is taken in unasked is bounded, and read on from there once it is wanted", async () => {
  const { source, budget, body } = incoming()
  for (let n = 0; n < 20; n++) source.write(Buffer.alloc(16_384, n))
  await settled()
  assert.strictEqual(budget.held, 65_536)
  const exit = Effect.runPromiseExit(body.whole)
  source.end()
  const bytes = await exit
  assert.strictEqual(Exit.isSuccess(bytes) && bytes.value.byteLength, 20 * 16_384)
  assert.strictEqual(budget.held, 0)
})

it("what nobody wants is let go", async () => {
  const { source, budget, body } = incoming()
  source.write(Buffer.alloc(100))
  await settled()
  assert.strictEqual(budget.held, 100)
  body.drop()
  assert.strictEqual(budget.held, 0)
  source.write(Buffer.alloc(100))
  await settled()
  assert.strictEqual(budget.held, 0)
  assert.strictEqual(vi.getTimerCount(), 0)
})

it("a body that something else has read already is a fault in words, not a wait without end", async () => {
  const source = new PassThrough()
  source.end("{}")
  source.resume()
  await settled()
  const body = new IncomingBody(source as unknown as IncomingMessage, LIMITS, { held: 0 })
  assert.include(
    failure(await Effect.runPromiseExit(body.whole)),
    "mount the cabinet's handler in front of any body parser",
  )
})
