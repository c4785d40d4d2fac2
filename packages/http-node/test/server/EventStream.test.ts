/** Streams of server-sent events: their number, their duration, and how they end. */
import {
  type EventStreams,
  EventStreamLimits,
  eventStreams,
  eventText,
  type NextEvent,
} from "@data-cabinet/http-node/server/EventStream"
import { Listener } from "@data-cabinet/http-node/server/Listener"
import { nodeAdapter } from "@data-cabinet/http-node/server/NodeAdapter"
import { stoppedResponse } from "@data-cabinet/http-node/tenancy/UnknownHost"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, ManagedRuntime, Queue, Scope } from "effect"

const LIMITS = { ofOne: 2, ofAll: 3, check: 20, silence: 60 }

/** Streams with these limits, until `work` has ended. */
const withStreams = (work: (streams: EventStreams) => Promise<void>, limits = LIMITS) =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(eventStreams, (streams) => Effect.promise(() => work(streams)))).pipe(
      Effect.provideService(EventStreamLimits, limits),
    ),
  )

type Body = AsyncIterable<Uint8Array>

const bodyOf = (streams: EventStreams, who: string, open: Effect.Effect<NextEvent, unknown, Scope.Scope>, may = true) =>
  (streams.response(who, open, Effect.succeed(may)).body as Body)[Symbol.asyncIterator]()

const textOf = async (body: AsyncIterator<Uint8Array>): Promise<string | null> => {
  const { done, value } = await body.next()
  return done === true ? null : Buffer.from(value).toString()
}

const silent = Effect.succeed(Effect.never as NextEvent)

/** Responds to every request with such a stream. */
const adapterOf = (streams: EventStreams, open: Parameters<EventStreams["response"]>[1]) =>
  nodeAdapter(
    { handle: async () => streams.response("ada", open, Effect.succeed(true)), stopped: stoppedResponse },
    Context.empty(),
  )

it("a stream sends its retry interval, its events, and keep-alives in between", () =>
  withStreams(async (streams) => {
    const queue = Effect.runSync(Queue.unbounded<string>())
    const body = bodyOf(streams, "ada", Effect.succeed(Queue.take(queue) as NextEvent))
    assert.strictEqual(await textOf(body), "retry: 2000\n\n")
    Queue.offerUnsafe(queue, eventText("7", "1 1 0"))
    assert.strictEqual(await textOf(body), "id: 7\ndata: 1 1 0\n\n")
    assert.strictEqual(await textOf(body), ":\n\n")
    // The event that it waited for during the silence is not lost.
    Queue.offerUnsafe(queue, eventText("8", "2 2 0"))
    let text = await textOf(body)
    while (text === ":\n\n") text = await textOf(body)
    assert.strictEqual(text, "id: 8\ndata: 2 2 0\n\n")
  }))

it("a stream ends for a client that loses access, and closes its resources", () =>
  withStreams(async (streams) => {
    let closed = 0
    const open = Effect.as(
      Effect.addFinalizer(() => Effect.sync(() => void closed++)),
      Effect.never as NextEvent,
    )
    const body = bodyOf(streams, "ada", open, false)
    assert.strictEqual(await textOf(body), "retry: 2000\n\n")
    assert.isNull(await textOf(body))
    assert.strictEqual(closed, 1)
    assert.isNull(streams.refusal("ada"))
  }))

it("the number of streams is limited per client and in total; a closed or never started one does not count", () =>
  withStreams(async (streams) => {
    const begun = await Promise.all(
      ["ada", "ada", "bob"].map(async (who) => {
        const body = bodyOf(streams, who, silent)
        await textOf(body)
        return body
      }),
    )
    bodyOf(streams, "eve", silent)
    assert.include(streams.refusal("ada"), "You already have 2 open streams")
    assert.include(streams.refusal("eve"), "3 streams are already open")
    // Admitted before the others began, but started after them.
    assert.isNull(await textOf(bodyOf(streams, "eve", silent)))
    const waiting = begun[0]!.next()
    await begun[0]!.return!()
    assert.isTrue((await waiting).done)
    assert.isNull(streams.refusal("ada"))
  }))

it("streams end with their routes", async () => {
  const scope = Scope.makeUnsafe()
  const streams = await Effect.runPromise(Scope.provide(eventStreams, scope))
  const body = bodyOf(streams, "ada", silent)
  await textOf(body)
  const waiting = body.next()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  assert.isTrue((await waiting).done)
})

it("a server that stops ends its streams first, with whole messages, without waiting for them", async () => {
  const scope = Scope.makeUnsafe()
  const streams = await Effect.runPromise(Scope.provide(eventStreams, scope))
  const handler = adapterOf(streams, silent)
  const runtime = ManagedRuntime.make(Listener.layer(handler, { host: "127.0.0.1", port: 0, drainMillis: 3_600_000 }))
  const { port } = await runtime.runPromise(Listener)
  const response = await fetch(`http://127.0.0.1:${port}/`)
  const text = response.text()
  await runtime.dispose()
  assert.strictEqual(await text, "retry: 2000\n\n")
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

it("a client that disconnects closes its stream's resources", async () => {
  const closed = Promise.withResolvers<void>()
  const open = Effect.as(
    Effect.addFinalizer(() => Effect.sync(closed.resolve)),
    Effect.never as NextEvent,
  )
  await withStreams(async (streams) => {
    const handler = adapterOf(streams, open)
    const runtime = ManagedRuntime.make(Listener.layer(handler, { host: "127.0.0.1", port: 0 }))
    const { port } = await runtime.runPromise(Listener)
    const leave = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: leave.signal })
    await response.body!.getReader().read()
    leave.abort()
    await closed.promise
    await runtime.dispose()
  })
})
