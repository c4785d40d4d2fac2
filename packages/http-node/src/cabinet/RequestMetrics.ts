/** What is counted of requests: how many, by route and status, and how long their answers took to make. */
import { type Context, Metric } from "effect"
import type { Route } from "../Route.ts"

const requests = Metric.counter("http_requests", {
  description: "Requests answered, by route and status.",
  incremental: true,
})

const millis = Metric.histogram("http_request_milliseconds", {
  description: "From a request's head to its answer, in milliseconds, by route.",
  boundaries: [1, 2, 5, 10, 25, 50, 100, 250, 1000, 5000, 10_000],
})

// One series a pair, looked up by what a request has at hand: routes are few, and so are the statuses of each.
const counters = new Map<string, typeof requests>()
const timers = new Map<string, typeof millis>()

/** `began` is a reading of the monotonic clock. The label is the route's pattern, never an address with a secret. */
export const countRequest = (
  route: Pick<Route, "path">,
  status: number,
  began: number,
  context: Context.Context<never>,
): void => {
  const series = `${route.path} ${status}`
  let counter = counters.get(series)
  if (counter === undefined) {
    counter = Metric.withAttributes(requests, { route: route.path, status: String(status) }) as typeof requests
    counters.set(series, counter)
  }
  let timer = timers.get(route.path)
  if (timer === undefined) {
    timer = Metric.withAttributes(millis, { route: route.path }) as typeof millis
    timers.set(route.path, timer)
  }
  counter.updateUnsafe(1, context)
  timer.updateUnsafe(performance.now() - began, context)
}
