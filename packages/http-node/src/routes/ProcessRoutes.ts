/** Routes beside the API: liveness, readiness and metrics of the process. They need no key and belong to no cabinet. */
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { Context, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { errorResponse, noSuchEndpoint } from "../server/ApiError.ts"
import { faultError, type LoggedFault } from "../server/Fault.ts"
import { isLocalRequest } from "../server/ClientAddress.ts"
import type { Stopping } from "../server/Listener.ts"
import { effectRunner, type RunEffect } from "../server/EffectRunner.ts"
import type { Response } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import { Readiness } from "../server/Readiness.ts"
import { sharedCheck } from "../server/SharedCheck.ts"
import { jsonLine } from "../parser/BadRequest.ts"

const noStore = { "cache-control": "no-store" }

const status = (code: number, body: object): Response => ({
  status: code,
  headers: { "content-type": "application/json", ...noStore },
  body: jsonLine(body),
})

const fault = (logged: LoggedFault) => errorResponse(faultError(logged))

/** How long one response of `/readyz` is shared, and how long its check may take, in milliseconds. */
const READY_CACHE_MILLIS = 1_000
const READY_TIMEOUT_MILLIS = 5_000

/**
 * Who gets the metrics on this port: every client, only clients on this machine (see `isLocalRequest`), or none. On a
 * server of many cabinets the metrics name every cabinet.
 */
export type MetricsFor = boolean | "here"

/** A server that is stopping is not ready. */
export const processRoutes = (options: { readonly metrics: MetricsFor }, stopping: Readonly<Stopping>) =>
  Effect.gen(function* () {
    const readiness = yield* Readiness
    const run = yield* effectRunner
    const counters = metricsRoute(run)
    const missing = yield* sharedCheck({
      check: readiness.check,
      cacheMillis: READY_CACHE_MILLIS,
      timeoutMillis: READY_TIMEOUT_MILLIS,
      late: `the database did not respond within ${READY_TIMEOUT_MILLIS / 1000} s`,
    })
    const healthz: Route = { path: "/healthz", fault, handle: async () => status(200, { ok: true }) }
    const readyz: Route = {
      path: "/readyz",
      fault,
      handle: async (request) => {
        if (stopping.begun) return status(503, { ok: false, error: "the server is stopping" })
        const what = await run(request, missing)
        return what === null ? status(200, { ok: true }) : status(503, { ok: false, error: what })
      },
    }
    const metrics: Route = {
      ...counters,
      handle: async (request, target) =>
        options.metrics === true || isLocalRequest(request) ? counters.handle(request, target) : noSuchEndpoint,
    }
    const routes: ReadonlyArray<Route> = options.metrics === false ? [healthz, readyz] : [healthz, readyz, metrics]
    return routes
  })

const cpu = Metric.counter("process_cpu_seconds_total", {
  description: "CPU time used by this process, in seconds.",
  incremental: true,
})
const memory = Metric.gauge("process_resident_memory_bytes", {
  description: "Resident memory of this process, in bytes.",
})
const build = Metric.gauge("build_info", {
  description: "Always 1; the labels name the version of Data Cabinet and of Node.",
  attributes: { version: VERSION, node: process.versions.node },
})

/** This process's own metrics in Prometheus' text format. */
export const ownMetrics: Effect.Effect<string> = Effect.gen(function* () {
  const { user, system } = process.cpuUsage()
  const { count } = yield* Metric.value(cpu)
  yield* Metric.update(cpu, Math.max(0, (user + system) / 1e6 - count))
  yield* Metric.update(build, 1)
  yield* Metric.update(memory, process.memoryUsage.rss())
  return yield* PrometheusMetrics.format({ prefix: "cabinet" })
})

/**
 * The response of `/metrics`: this process's own metrics, unless several processes share the port and one responds for all.
 */
export const MetricsText = Context.Reference<Effect.Effect<string>>(
  "@data-cabinet/http-node/server/ProcessRoutes/MetricsText",
  { defaultValue: () => ownMetrics },
)

export const metricsRoute = (run: RunEffect): Route => ({
  path: "/metrics",
  fault,
  handle: async (request) => ({
    status: 200,
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", ...noStore },
    body: await run(request, Effect.flatten(MetricsText)),
  }),
})
