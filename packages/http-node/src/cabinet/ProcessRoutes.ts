/** Beside the API: whether the process lives, whether it can serve, and its counters. No key, and no cabinet. */
import { Context, Duration, Effect, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { errorResponse } from "../api/ApiError.ts"
import type { Stopping } from "../Listener.ts"
import type { Route } from "../Route.ts"
import { Readiness } from "./Readiness.ts"

const noStore = { "cache-control": "no-store" }

const status = (code: number, body: object) =>
  HttpServerResponse.text(JSON.stringify(body), { status: code, contentType: "application/json", headers: noStore })

const fault = (correlationId: string) =>
  errorResponse({ code: "internal_error", message: `An unexpected fault, logged as ${correlationId}.` })

/** `metrics: false` where the counters have a port of their own. A server that is stopping is not ready. */
export const processRoutes = (options: { readonly metrics: boolean }, stopping: Readonly<Stopping>) =>
  Effect.map(Readiness, (readiness): ReadonlyArray<Route> => {
    const healthz: Route = { path: "/healthz", fault, handle: () => Effect.succeed(status(200, { ok: true })) }
    const readyz: Route = {
      path: "/readyz",
      fault,
      handle: () => {
        if (stopping.begun) return Effect.succeed(status(503, { ok: false, error: "the server is stopping" }))
        return readiness.check.pipe(
          Effect.timeoutOrElse({
            duration: Duration.seconds(5),
            orElse: () => Effect.succeed("the database did not answer within 5 s"),
          }),
          Effect.map((missing) =>
            missing === null ? status(200, { ok: true }) : status(503, { ok: false, error: missing }),
          ),
        )
      },
    }
    return options.metrics ? [healthz, readyz, metricsRoute] : [healthz, readyz]
  })

const cpu = Metric.gauge("process_cpu_seconds", { description: "CPU time that this process has used, in seconds." })
const memory = Metric.gauge("process_resident_bytes", { description: "Resident memory of this process, in bytes." })

/** This process's own counters in Prometheus' text form. */
export const ownMetrics: Effect.Effect<string> = Effect.gen(function* () {
  const { user, system } = process.cpuUsage()
  yield* Metric.update(cpu, (user + system) / 1e6)
  yield* Metric.update(memory, process.memoryUsage.rss())
  return yield* PrometheusMetrics.format({ prefix: "cabinet" })
})

/** What `/metrics` answers: its own counters, unless several processes share the port and one answers for all. */
export const MetricsText = Context.Reference<Effect.Effect<string>>(
  "@data-cabinet/http-node/cabinet/ProcessRoutes/MetricsText",
  { defaultValue: () => ownMetrics },
)

export const metricsRoute: Route = {
  path: "/metrics",
  fault,
  handle: () =>
    Effect.map(Effect.flatten(MetricsText), (text) =>
      HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8", headers: noStore }),
    ),
}
