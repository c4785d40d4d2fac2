/** Request metrics: how many, by route and status, and how long their answers took to produce. */
import { type Context, Metric } from "effect"
import type { Route } from "./Route.ts"

const counterOf = (route: string, status: number) =>
  Metric.counter("http_requests", {
    description: "Requests answered, by route and status.",
    incremental: true,
    attributes: { route, status: String(status) },
  })

const timerOf = (route: string) =>
  Metric.histogram("http_request_milliseconds", {
    description: "From a request's head to its answer, in milliseconds, by route.",
    boundaries: [1, 2, 5, 10, 25, 50, 100, 250, 1000, 5000, 10_000],
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
  series.timer.updateUnsafe(performance.now() - began, context)
}
