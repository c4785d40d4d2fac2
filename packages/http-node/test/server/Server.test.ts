/** The three ways to serve: a separate server, a listener mounted elsewhere, a fetch handler. */
import { createServer, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { Intake } from "@data-cabinet/core/intake/Intake"
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { beginStep } from "@data-cabinet/core/runtime/Instrument"
import { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import { Listener, ListenError } from "@data-cabinet/http-node/server/Listener"
import * as Server from "@data-cabinet/http-node/routes/Server"
import {
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  ManagedRuntime,
  Option,
  References,
  Result,
  Scope,
  Tracer,
} from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "vitest"
import { cabinetHttp, countingAdmission, KEY, ORDERS, type Ports, readiness } from "../support/apiServer.ts"

const headers = { authorization: `Bearer ${KEY}` }

const composed = (ports: Ports = {}) =>
  Layer.mergeAll(Cabinets.single.pipe(Layer.provide(cabinetHttp(ports))), readiness(ports.notReady ?? null))

const listening = (ports: Ports, port = 0, drainMillis = 300_000) =>
  ManagedRuntime.make(
    Server.layer({ metrics: true, host: "127.0.0.1", port, drainMillis }).pipe(Layer.provide(composed(ports))),
  )

/** Lives as long as the runtime. */
const fetchHandler = ({ scope }: { readonly scope: Scope.Scope }, metrics: boolean) =>
  Effect.provideService(Server.fetchHandler({ metrics }), Scope.Scope, scope)

describe("layer", () => {
  it("serves, and reports readiness or what is missing", async () => {
    const runtime = listening({ notReady: "migration 3 is missing" })
    const { port, host } = await runtime.runPromise(Listener)
    assert.equal(host, "127.0.0.1")
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
    assert.equal(ready.status, 503)
    assert.equal(await ready.text(), '{"ok":false,"error":"migration 3 is missing"}\n')
    await runtime.dispose()
  })

  it("refuses a taken port with a typed error", async () => {
    const first = listening({})
    const { port } = await first.runPromise(Listener)
    const error = await Effect.runPromise(
      Effect.flip(
        Effect.scoped(
          Layer.build(Server.layer({ metrics: true, host: "127.0.0.1", port }).pipe(Layer.provide(composed()))),
        ),
      ),
    )
    assert.ok(error instanceof ListenError)
    assert.equal(error.code, "address_in_use")
    assert.equal(error.message, `Another program already listens on 127.0.0.1:${port}.`)
    await first.dispose()
  })

  it("drains: completes requests in flight, accepts no more, and ends", async () => {
    const entered = Promise.withResolvers<void>()
    const gate = Deferred.makeUnsafe<void>()
    const list = Effect.andThen(
      Effect.sync(() => entered.resolve()),
      Effect.as(Deferred.await(gate), [ORDERS]),
    )
    const runtime = listening({ sources: { list } })
    const { port } = await runtime.runPromise(Listener)
    const under = fetch(`http://127.0.0.1:${port}/api/v1/sources`, { headers })
    await entered.promise
    const ended = runtime.dispose()
    const refused = async () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => false,
        () => true,
      )
    while (!(await refused())) await new Promise(setImmediate)
    Effect.runSync(Deferred.succeed(gate, undefined))
    const answer = await under
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get("connection"), "close")
    assert.equal(((await answer.json()) as any).data.length, 1)
    await ended
  })

  it("stops gracefully: reports not ready at once, accepts requests for the drain time, then ends", async () => {
    const runtime = ManagedRuntime.make(
      Server.layer({ metrics: true, host: "127.0.0.1", port: 0, noticeMillis: () => 3000 }).pipe(
        Layer.provide(composed({})),
        Layer.provideMerge(TestClock.layer()),
      ),
    )
    const { port } = await runtime.runPromise(Listener)
    const base = `http://127.0.0.1:${port}`
    const clock = await runtime.runPromise(TestClock.testClockWith(Effect.succeed))
    const ready = async () => await fetch(`${base}/readyz`)
    assert.equal((await ready()).status, 200)
    const ended = runtime.dispose()
    let answer = await ready()
    while (answer.status === 200) answer = await ready()
    assert.deepEqual(await answer.json(), { ok: false, error: "the server is stopping" })
    await Effect.runPromise(clock.adjust(2999))
    const late = await fetch(`${base}/api/v1/sources`, { headers })
    assert.equal(late.status, 200)
    assert.equal(late.headers.get("connection"), "close")
    await late.text()
    await Effect.runPromise(clock.adjust(1))
    await ended
    assert.equal(await ready().catch(() => "refused"), "refused")
  })

  it("ends even if a request never does", async () => {
    const entered = Promise.withResolvers<void>()
    const list = Effect.andThen(
      Effect.sync(() => entered.resolve()),
      Effect.never,
    )
    const runtime = listening({ sources: { list } }, 0, 50)
    const { port } = await runtime.runPromise(Listener)
    const under = fetch(`http://127.0.0.1:${port}/api/v1/sources`, { headers }).then(
      ({ status }) => status,
      () => "cut",
    )
    await entered.promise
    await runtime.dispose()
    assert.equal(await under, "cut")
  })

  it("interrupts the work of a client that hangs up", async () => {
    const entered = Promise.withResolvers<void>()
    const interrupted = Promise.withResolvers<void>()
    const list = Effect.andThen(
      Effect.sync(() => entered.resolve()),
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted.resolve())),
    )
    const runtime = listening({ sources: { list } })
    const { port } = await runtime.runPromise(Listener)
    const abort = new AbortController()
    const under = fetch(`http://127.0.0.1:${port}/api/v1/sources`, { headers, signal: abort.signal }).catch(
      () => "gone",
    )
    await entered.promise
    abort.abort()
    assert.equal(await under, "gone")
    await interrupted.promise
    await runtime.dispose()
  })

  it("responds with 503 within 10 s when the database never responds, for the key as well as after it", async () => {
    for (const place of ["key", "after"] as const) {
      const entered = Promise.withResolvers<void>()
      const silent = Effect.andThen(
        Effect.sync(() => entered.resolve()),
        Effect.never,
      )
      // The counting store gets the deadline of the response.
      const key = (_: Uint8Array, deadline: number): Promise<Result.Result<null, StoreUnavailable>> =>
        runtime.runPromise(
          Effect.clockWith((clock) =>
            Effect.timeoutOrElse(silent, {
              duration: deadline - monotonicMillis(clock),
              orElse: () =>
                Effect.fail(new StoreUnavailable({ message: "No answer.", retryAfter: 2, outcomeUnknown: false })),
            }),
          ).pipe(Effect.result),
        )
      const runtime = ManagedRuntime.make(
        Server.layer({ metrics: true, host: "127.0.0.1", port: 0 }).pipe(
          Layer.provide(composed(place === "key" ? { admission: { key } } : { sources: { list: silent } })),
          Layer.provideMerge(TestClock.layer()),
        ),
      )
      const { port } = await runtime.runPromise(Listener)
      const under = fetch(`http://127.0.0.1:${port}/api/v1/sources`, { headers })
      await entered.promise
      await new Promise(setImmediate)
      await runtime.runPromise(TestClock.adjust("10 seconds"))
      const answer = await under
      assert.equal(answer.status, 503)
      assert.equal(((await answer.json()) as any).error.code, "reader_off")
      assert.ok(Number(answer.headers.get("retry-after")) > 0)
      await runtime.dispose()
    }
  })

  it("responds to a request for rows within ten seconds, even if something neither responds nor can be aborted", async () => {
    const entered = Promise.withResolvers<void>()
    const silent = Effect.andThen(
      Effect.sync(() => entered.resolve()),
      Effect.uninterruptible(Effect.never),
    )
    const runtime = ManagedRuntime.make(
      Server.layer({ metrics: true, host: "127.0.0.1", port: 0, drainMillis: 0 }).pipe(
        Layer.provide(composed({ rows: { page: (_, call) => runResult(silent, call.context, call) } })),
        Layer.provideMerge(TestClock.layer()),
      ),
    )
    const { port } = await runtime.runPromise(Listener)
    const under = fetch(`http://127.0.0.1:${port}/api/v1/tables/sources/orders/rows`, { headers })
    await entered.promise
    await new Promise(setImmediate)
    await runtime.runPromise(TestClock.adjust("9750 millis"))
    const answer = await under
    assert.equal(answer.status, 503)
    assert.equal(((await answer.json()) as any).error.code, "reader_off")
    await runtime.dispose()
  })

  it("counts requests in /metrics", async () => {
    const runtime = listening({})
    const { port } = await runtime.runPromise(Listener)
    for (const path of ["/api/v1/sources", "/api/v1/sources/9", "/api/v1/sources/9"]) {
      await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text()
    }
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.match(text, /cabinet_http_requests_total\{.*route="\/api\/v1\/sources\/\{source_id\}",status="404".*\} 2/)
    await runtime.dispose()
  })
})

describe("a POST to the intake", () => {
  const SOURCE = { id: 7, version: 1, encoding: null, thanksUrl: null, kept: null, verification: null }
  const RECEIPT = { id: 5, repeatOf: null, empty: false }

  type Outcome = Awaited<ReturnType<Intake["Service"]["receive"]>>

  interface Options {
    readonly level?: "Info" | "Debug"
    readonly tracer?: Tracer.Tracer
    /** Runs while the source is looked up. */
    readonly looked?: Effect.Effect<void>
  }

  /** A server whose intake responds with `outcome`; with its log, and whether each request had a fiber. */
  const taking = async (outcome: () => Outcome, { level = "Info", tracer, looked = Effect.void }: Options = {}) => {
    const logged: Array<unknown> = []
    const fibers: Array<boolean> = []
    const logger = Logger.make(({ fiber }) => {
      logged.push(fiber.getRef(References.CurrentLogAnnotations)["requestId"])
    })
    const intake: Partial<Intake["Service"]> = {
      admit: async (_secret, _ip, { context }) => {
        fibers.push(Fiber.getCurrent() !== undefined)
        await runResult(looked, context)
        return Result.succeed(SOURCE)
      },
      receive: async ({ context }) => {
        fibers.push(Fiber.getCurrent() !== undefined)
        beginStep("intake.accept", context).end(Result.void)
        return outcome()
      },
    }
    const cabinets = Cabinets.single.pipe(Layer.provide(cabinetHttp({ intake })))
    const runtime = ManagedRuntime.make(
      Server.layer({ metrics: true, host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide([cabinets, readiness(null)]),
        Layer.provide([
          Logger.layer([logger]),
          Layer.succeed(References.MinimumLogLevel, level),
          tracer === undefined ? Layer.succeed(References.TracerEnabled, false) : Layer.succeed(Tracer.Tracer, tracer),
        ]),
      ),
    )
    const { port } = await runtime.runPromise(Listener)
    const base = `http://127.0.0.1:${port}`
    const post = (id?: string) =>
      fetch(`${base}/webhook/s`, {
        method: "POST",
        body: "{}",
        headers: id === undefined ? {} : { "x-request-id": id },
      })
    const counted = async (status: number) => {
      const text = await (await fetch(`${base}/metrics`)).text()
      const sample = new RegExp(
        `cabinet_http_requests_total\\{.*route="/webhook/\\{intake_secret\\}",status="${status}".*\\} (\\d+)`,
      )
      return Number(sample.exec(text)?.[1] ?? 0)
    }
    return { post, counted, logged, fibers, close: () => runtime.dispose() }
  }

  const accepted = () => Result.succeed({ kind: "object", receipt: RECEIPT, thanksUrl: null } as const)
  const faulty = (): never => {
    throw new Error("SELECT secrets")
  }

  it("runs without a fiber, has its id on its response, and is counted", async () => {
    const { post, counted, logged, fibers, close } = await taking(accepted)
    const before = await counted(200)
    for (const id of ["one", "two"]) {
      const answer = await post(id)
      assert.deepEqual([answer.status, answer.headers.get("x-request-id")], [200, id])
      assert.deepEqual(await answer.json(), { ok: true, id: 5, duplicate: false, empty: false })
    }
    assert.equal((await counted(200)) - before, 2)
    await close()
    assert.deepEqual([fibers, logged], [[false, false, false, false], []])
  })

  const REFUSED: ReadonlyArray<readonly [status: number, error: IntakeError | StoreUnavailable]> = [
    [404, new IntakeError({ code: "not_found", message: "Nothing" })],
    [408, new IntakeError({ code: "timeout", message: "Slow" })],
    [413, new IntakeError({ code: "too_large", message: "Large", limit: 9 })],
    [413, new IntakeError({ code: "too_many_items", message: "Many", count: 200, limit: 100 })],
    [415, new IntakeError({ code: "unsupported_encoding", message: "Odd" })],
    [429, new IntakeError({ code: "rate_limited", message: "Often", retryAfter: 7 })],
    [503, new StoreUnavailable({ message: "Away", retryAfter: 3, outcomeUnknown: false })],
    [503, new StoreUnavailable({ message: "Lost", retryAfter: 3, outcomeUnknown: true })],
  ]

  it.each(REFUSED)("gets %i in the contract's form with its id, and is counted: %s", async (status, error) => {
    const { post, counted, fibers, logged, close } = await taking(() => Result.fail(error))
    const before = await counted(status)
    const answer = await post("refused")
    assert.deepEqual([answer.status, answer.headers.get("x-request-id")], [status, "refused"])
    const code = error._tag === "IntakeError" ? error.code : "unavailable"
    assert.deepInclude(await answer.json(), { ok: false, error: code })
    assert.equal(answer.headers.get("retry-after"), error.retryAfter === undefined ? null : String(error.retryAfter))
    assert.equal((await counted(status)) - before, 1)
    await close()
    // The log reports once a minute that the store is unavailable, under the id of the first affected request.
    assert.deepEqual([fibers, logged], [[false, false], status === 503 ? ["refused"] : []])
  })

  it("gets a message on a fault, which is logged with its id, and is counted", async () => {
    const fault = await taking(faulty)
    const before = await fault.counted(500)
    const answer = await fault.post("at-fault")
    assert.deepEqual([answer.status, answer.headers.get("x-request-id")], [500, "at-fault"])
    const text = await answer.text()
    assert.match(text, /"error":"internal_error"/)
    assert.notInclude(text, "SELECT")
    assert.equal((await fault.counted(500)) - before, 1)
    await fault.close()
    assert.deepEqual([fault.logged, fault.fibers], [["at-fault"], [false, false]])
  })

  it("has one id in all its log entries, and on its response", async () => {
    const fault = await taking(faulty, { looked: Effect.logInfo("looked up") })
    const id = (await fault.post()).headers.get("x-request-id")
    await fault.close()
    assert.match(id!, /^[0-9a-f-]{36}$/)
    assert.deepEqual(fault.logged, [id, id])
  })

  it("takes the same path when it is logged and when it is traced", async () => {
    const spans: Array<Tracer.Span> = []
    const native = Context.get(Context.empty(), Tracer.Tracer)
    const tracer = Tracer.make({
      span: (options) => {
        const span = native.span(options)
        spans.push(span)
        return span
      },
    })
    const watched = await taking(accepted, { level: "Debug", tracer })
    assert.equal((await watched.post("told")).status, 200)
    await watched.close()
    assert.isTrue(watched.logged.includes("told"))
    assert.deepEqual(watched.fibers, [false, false])
    const [whole, step] = spans
    assert.deepEqual(
      [whole!.name, whole!.kind, Object.fromEntries(whole!.attributes)],
      [
        "POST /webhook/{intake_secret}",
        "server",
        {
          "http.request.method": "POST",
          "http.route": "/webhook/{intake_secret}",
          "request.id": "told",
          "http.response.status_code": 200,
        },
      ],
    )
    assert.deepEqual([step!.name, Option.getOrUndefined(step!.parent)?.spanId], ["intake.accept", whole!.spanId])
    assert.deepEqual([whole!.status._tag, step!.status._tag], ["Ended", "Ended"])
  })
})

describe("metricsLayer", () => {
  it("serves only the counters", async () => {
    // The server does not report its port, so take a free one, and another one if somebody was faster.
    const started = async () => {
      const free = createServer().listen(0, "127.0.0.1")
      await new Promise((done) => free.once("listening", done))
      const { port } = free.address() as { port: number }
      await new Promise((done) => free.close(done))
      const runtime = ManagedRuntime.make(Server.metricsLayer({ host: "127.0.0.1", port }))
      const exit = await Effect.runPromiseExit(runtime.contextEffect)
      return Exit.isSuccess(exit) ? { port, runtime } : null
    }
    let server = await started()
    while (server === null) server = await started()
    const { port, runtime } = server
    assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/sources`, { headers })).status, 404)
    await runtime.dispose()
  })
})

describe("nodeHandler", () => {
  const mounted = async (ports: Ports, cut: string, hear = (_response: ServerResponse) => {}) => {
    const scope = Scope.makeUnsafe()
    const handler = await Effect.runPromise(
      Server.nodeHandler({ metrics: false }).pipe(
        Effect.provideService(Scope.Scope, scope),
        // Its deadlines never come, however slow the machine is.
        Effect.provide(
          await Effect.runPromise(Layer.buildWithScope(Layer.merge(composed(ports), TestClock.layer()), scope)),
        ),
      ),
    )
    const server = createServer((request, response) => {
      if (request.url!.startsWith(cut)) request.url = request.url!.slice(cut.length)
      hear(response)
      handler(request, response)
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    return { base, close: () => (server.close(), Effect.runPromise(Scope.close(scope, Exit.void))) }
  }

  it("responds below a path that the host program strips, and below one that it keeps", async () => {
    for (const cut of ["/data", ""]) {
      const { base, close } = await mounted({ baseUrl: "https://x.test/data" }, cut)
      assert.equal((await fetch(`${base}/data/api/v1/sources`, { headers })).status, 200)
      assert.equal((await fetch(`${base}/other/api/v1/sources`, { headers })).status, 404)
      assert.equal((await fetch(`${base}/databank/api/v1/sources`, { headers })).status, 404)
      await close()
    }
  })

  it("handles many requests concurrently, and aborts those in flight when its scope closes", async () => {
    const many = 300
    const gate = Deferred.makeUnsafe<void>()
    const [half, whole] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let entered = 0
    let interrupted = 0
    const list = Effect.suspend(() => {
      entered++
      if (entered === many) half.resolve()
      if (entered === 2 * many) whole.resolve()
      const work = entered <= many ? Effect.as(Deferred.await(gate), [ORDERS]) : Effect.never
      return Effect.onInterrupt(work, () => Effect.sync(() => void interrupted++))
    })
    const { base, close } = await mounted({ sources: { list }, admission: countingAdmission(2 * many) }, "")
    const answered = Array.from({ length: many }, () => fetch(`${base}/api/v1/sources`, { headers }))
    await half.promise
    Effect.runSync(Deferred.succeed(gate, undefined))
    for (const answer of answered) assert.equal((await answer).status, 200)
    const endless = Array.from({ length: many }, () => {
      const socket = connect(Number(new URL(base).port), "127.0.0.1")
      socket.write(`GET /api/v1/sources HTTP/1.1\r\nhost: x.test\r\nauthorization: Bearer ${KEY}\r\n\r\n`)
      return socket
    })
    await whole.promise
    assert.equal(interrupted, 0)
    await close()
    assert.equal(interrupted, many)
    for (const socket of endless) socket.destroy()
  })

  it("writes responses in one go when they complete together", async () => {
    const order: Array<string> = []
    const asked: Array<() => void> = []
    const list = Effect.tap(
      Effect.callback<ReadonlyArray<typeof ORDERS>>((resume) => {
        asked.push(() => resume(Effect.succeed([ORDERS])))
        if (asked.length === 2) setImmediate(() => asked.forEach((answer) => answer()))
      }),
      () => Effect.sync(() => order.push("made")),
    )
    const { base, close } = await mounted({ sources: { list } }, "", (response) => {
      const end = response.end.bind(response)
      response.end = ((...all: Parameters<typeof end>) => {
        order.push("written")
        return end(...all)
      }) as typeof response.end
    })
    const statuses = await Promise.all(
      [1, 2].map(async () => (await fetch(`${base}/api/v1/sources`, { headers })).status),
    )
    await close()
    assert.deepEqual(statuses, [200, 200])
    assert.deepEqual(order, ["made", "made", "written", "written"])
  })
})

it("serves the process's own addresses at the cabinet's path, through every handler", async () => {
  const ports = { baseUrl: "https://x.test/data", notReady: "migration 3 is missing" }
  const served = listening(ports)
  const { port } = await served.runPromise(Listener)
  const runtime = ManagedRuntime.make(composed(ports))
  const handler = await runtime.runPromise(fetchHandler(runtime, true))
  const faces = [
    (path: string) => fetch(`http://127.0.0.1:${port}${path}`),
    (path: string) => handler(new Request(`https://x.test${path}`)),
  ]
  for (const face of faces) {
    const statuses = async (...paths: ReadonlyArray<string>) =>
      await Promise.all(paths.map(async (path) => (await face(path)).status))
    assert.deepEqual(await statuses("/data/healthz", "/data/readyz", "/data/metrics"), [200, 503, 200])
    assert.deepEqual(await statuses("/healthz", "/readyz", "/metrics"), [200, 503, 200])
    assert.deepEqual(await statuses("/other/healthz", "/datahealthz", "/data//healthz"), [404, 404, 404])
  }
  await served.dispose()
  await runtime.dispose()
})

describe("fetchHandler", () => {
  it("handles requests without a socket, and HEAD without a body", async () => {
    const runtime = ManagedRuntime.make(composed())
    const handler = await runtime.runPromise(fetchHandler(runtime, false))
    const get = await handler(new Request("https://x.test/api/v1/sources", { headers }))
    assert.equal(get.status, 200)
    assert.equal(get.headers.get("x-ratelimit-remaining"), "119")
    assert.equal(((await get.json()) as any).data[0].name, ORDERS.name)
    const head = await handler(new Request("https://x.test/api/v1/sources", { headers, method: "HEAD" }))
    assert.deepEqual([head.status, await head.text()], [200, ""])
    assert.equal((await handler(new Request("https://x.test/nowhere"))).status, 404)
    await runtime.dispose()
  })

  it("shares its cabinet's counts", async () => {
    const runtime = ManagedRuntime.make(composed({ admission: countingAdmission(1) }))
    const handler = await runtime.runPromise(fetchHandler(runtime, false))
    const status = async () => (await handler(new Request("https://x.test/api/v1/sources", { headers }))).status
    assert.deepEqual([await status(), await status()], [200, 429])
    await runtime.dispose()
  })
})
