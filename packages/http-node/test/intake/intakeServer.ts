/**
 * Intake behind a real HTTP server on the loopback, over a store in memory, to test only the rules of HTTP. The ports
 * record their calls in `state`, where tests set their results.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Deadline, monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { type StoreUnavailable, storeTimedOut } from "@data-cabinet/core/error/StoreUnavailable"
import { EventLog } from "@data-cabinet/core/event/EventLog"
import type { AcceptRequest, Receipt } from "@data-cabinet/core/event/EventLog"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import type { IntakeSource } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import { LimitedRequests } from "@data-cabinet/core/limit/LimitedRequests"
import { Context, Effect, Layer, ManagedRuntime, Option, Result, Scope } from "effect"
import { HttpSettings } from "../../src/server/HttpSettings.ts"
import { BodyLimits } from "../../src/intake/BodyLimits.ts"
import type { Limits } from "../../src/intake/BodyLimits.ts"
import { intakeRoutes } from "../../src/intake/IntakeRoutes.ts"
import { fetchAdapter } from "../../src/server/FetchAdapter.ts"
import { nodeAdapter } from "../../src/server/NodeAdapter.ts"
import { stoppedResponse } from "../../src/tenancy/UnknownHost.ts"
import { observe } from "../../src/server/Observe.ts"
import type { Handle } from "../../src/server/Request.ts"
import { addressOf, routeTable } from "../../src/server/Route.ts"
import { ProofProviders } from "@data-cabinet/core/proof/ProofProviders"
import { SnsService } from "@data-cabinet/core/verification/VerifySns"
import { RefusedSignatures } from "@data-cabinet/core/verification/VerifySender"

export const SECRET = "s3cret-of-the-address"

const LIMITS: Limits = { maxBytes: 1_048_576, idle: 15_000, total: 60_000, buffered: 256 * 1_048_576, store: 9_000 }

/** As ports require: a result by the deadline. */
const byDeadline = <A, E>(deadline: Deadline, outcomeUnknown: boolean, work: Effect.Effect<A, E>) =>
  runResult(
    Effect.clockWith((clock) =>
      Effect.timeoutOrElse(work, {
        duration: deadline - monotonicMillis(clock),
        orElse: () => Effect.fail(storeTimedOut(outcomeUnknown)),
      }),
    ),
    Context.empty(),
  )

export const intakeServer = async (limits: Partial<Limits> = {}) => {
  const state = {
    source: { id: 7, version: 1, encoding: null, thanksUrl: null, kept: null, verification: null } as IntakeSource,
    clientAllowed: true,
    sourceAllowed: true,
    asked: [] as Array<string>,
    appended: [] as Array<AcceptRequest>,
    /** Called instead of appending. */
    instead: undefined as Effect.Effect<never, StoreUnavailable> | undefined,
    /** Awaited before a client is admitted. */
    admission: Effect.void as Effect.Effect<void>,
    /** Awaited before an append completes. */
    gate: Effect.void as Effect.Effect<void>,
  }
  const server = createServer()
  const allowance = (allowed: boolean) => ({ allowed, limit: 60, remaining: 0, retryAfter: 42 })
  const ports = Layer.mergeAll(
    Layer.succeed(Sources, {
      cached: () => undefined,
      bySecret: (secret: string) =>
        Effect.sync(() => {
          state.asked.push("source")
          return secret === SECRET ? Option.some(state.source) : Option.none()
        }),
    } as unknown as Sources["Service"]),
    Layer.succeed(RateLimiter, {
      key: async () => Result.succeed(null),
      intake: (ip, sourceId, deadline) =>
        byDeadline(
          deadline,
          false,
          Effect.map(sourceId === null ? state.admission : Effect.void, () => {
            state.asked.push(sourceId === null ? `client ${ip}` : "rate")
            return sourceId === null
              ? { ...allowance(state.clientAllowed), subject: "client" }
              : { ...allowance(state.sourceAllowed), subject: "source" }
          }),
        ),
    }),
    Layer.succeed(EventLog, {
      append: (request, deadline) =>
        byDeadline(
          deadline!,
          true,
          Effect.suspend(() => {
            if (state.instead !== undefined) return state.instead
            return Effect.map(state.gate, () => {
              state.appended.push(request)
              setImmediate(() => server.emit("appended"))
              const first = state.appended.length
              return request.events.map((event, n): Receipt => ({ id: first + n, repeatOf: null, empty: event.empty }))
            })
          }),
        ),
    }),
    Layer.succeed(RefusedSignatures, { count: () => {} }),
    Layer.succeed(SnsService, { certificate: () => Effect.succeed(null), confirm: () => Effect.void }),
    Layer.succeed(ProofProviders, { check: () => Effect.succeed("unchecked" as const) }),
    Layer.succeed(LimitedRequests, { count: () => {} }),
    Layer.succeed(HttpSettings, {
      baseUrl: "http://cabinet.test",
      docsUrl: null,
      trustedProxies: () => false,
    }),
    Layer.succeed(BodyLimits, { ...LIMITS, ...limits }),
  )
  const runtime = ManagedRuntime.make(Intake.layer.pipe(Layer.provideMerge(ports)))
  const [handler, fetchHandler] = await runtime.runPromise(
    Effect.gen(function* () {
      const find = routeTable(yield* Effect.provideService(intakeRoutes, Scope.Scope, runtime.scope))
      const handle: Handle = async (request) => {
        const address = addressOf(request.url)
        const match = find(address)
        return match === undefined
          ? { status: 410, headers: {}, body: null }
          : observe(match.route, request, { params: match.params, query: address.query }, Context.empty())
      }
      const whole = { handle, stopped: stoppedResponse }
      return [nodeAdapter(whole, Context.empty()), fetchAdapter(whole, Context.empty())] as const
    }),
  )
  server.on("connection", (socket) => socket.once("close", () => setImmediate(() => server.emit("connection gone"))))
  server.on("request", (request, response) => handler(request, response))
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/webhook/${SECRET}`
  return {
    state,
    port,
    url,
    base: `http://127.0.0.1:${port}`,
    post: (body: RequestInit["body"], headers: Record<string, string> = {}, query = "") =>
      fetch(url + query, { method: "POST", body: body ?? null, headers, redirect: "manual" }),
    /** The same without a socket, as a framework built on fetch would call it. */
    fetch: (init: RequestInit, query = ""): Promise<Response> =>
      fetchHandler(new Request(url + query, { method: "POST", ...init })),
    /** The stored payloads, as JSON texts. */
    payloads: () => state.appended.flatMap(({ events }) => events.map(({ payload }) => jsonText(payload))),
    /** Resolves when the server has seen a connection end. */
    disconnected: () => new Promise<void>((done) => server.once("connection gone", done)),
    /** Resolves at the next append. */
    appended: () => new Promise<void>((done) => server.once("appended", done)),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await runtime.dispose()
    },
  }
}

export type IntakeServer = Awaited<ReturnType<typeof intakeServer>>
