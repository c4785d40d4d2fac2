/** Request metrics: how many, by route and status, and how long their responses took to produce. */
import { type Context, Metric } from "effect"
import type { Route } from "./Route.ts"

const counterOf = (route: string, status: number) =>
  Metric.counter("http_requests_total", {
    description: "Completed requests by route and status.",
    incremental: true,
    attributes: { route, status: String(status) },
  })

const timerOf = (route: string) =>
  Metric.histogram("http_request_duration_seconds", {
    description: "Time from a request's headers to its response, in seconds, by route.",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10],
    attributes: { route },
  })

// A metric that is given its attributes on each call computes its name again. Routes and their statuses are few, so the
// series are cached.
const seriesOf = new Map<string, Series>()

interface Series {
  readonly timer: ReturnType<typeof timerOf>
  /** By status. */
  readonly counters: Map<number, ReturnType<typeof counterOf>>
}

/** `began` is a reading of the monotonic clock. The label is the route's pattern, never an address with a secret. */
export const countRequest = (
  { path }: Pick<Route, "path">,
  status: number,
  began: number,
  context: Context.Context<never>,
): void => {
  let series = seriesOf.get(path)
  if (series === undefined) {
    series = { timer: timerOf(path), counters: new Map() }
    seriesOf.set(path, series)
  }
  let counter = series.counters.get(status)
  if (counter === undefined) {
    counter = counterOf(path, status)
    series.counters.set(status, counter)
  }
  counter.updateUnsafe(1, context)
  series.timer.updateUnsafe((performance.now() - began) / 1000, context)
}
