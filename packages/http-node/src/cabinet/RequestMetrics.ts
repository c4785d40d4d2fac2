/** What is counted of requests: how many, by route and status, and how long their answers took to make. */
import { type Context, Metric } from "effect"
import type { Route } from "../Route.ts"

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

// A metric that is given its attributes each time works out its name anew: routes are few, and so are their statuses.
const counters = new Map<string, ReturnType<typeof counterOf>>()
const timers = new Map<string, ReturnType<typeof timerOf>>()

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
    counter = counterOf(route.path, status)
    counters.set(series, counter)
  }
  let timer = timers.get(route.path)
  if (timer === undefined) {
    timer = timerOf(route.path)
    timers.set(route.path, timer)
  }
  counter.updateUnsafe(1, context)
  timer.updateUnsafe(performance.now() - began, context)
}
