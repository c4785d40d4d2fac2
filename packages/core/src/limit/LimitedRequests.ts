/** Counts the requests to a source that were refused because of a rate, for the operator. */
import { Context, Metric } from "effect"
import * as Shape from "../json/Shape.ts"
import type { IntakeRateLimit } from "./RateLimiter.ts"

/** The current series of refusals; a day without any ends it. Times are RFC 3339 in UTC. */
export interface LimitedCount {
  readonly count: number
  readonly since: string
  readonly lastAt: string
}

/** How the APIs show it. */
export const limitedShape = Shape.object<LimitedCount>(
  "Requests to it that were refused with 429 lately; null if there were none within a day.",
  {
    count: Shape.whole("How many."),
    since: Shape.time("The first of them."),
    lastAt: Shape.time("The last of them."),
  },
)

export class LimitedRequests extends Context.Service<
  LimitedRequests,
  {
    /** Returns at once; the count is stored soon. */
    readonly count: (sourceId: number) => void
  }
>()("@data-cabinet/core/limit/LimitedRequests") {}

const counter = (subject: IntakeRateLimit["subject"]) =>
  Metric.counter("intake_rate_limited_total", {
    description: "Requests refused with 429, by what was over its limit: the client's address or the source.",
    incremental: true,
    attributes: { subject },
  })

const counters = { client: counter("client"), source: counter("source") }

/** Counts a request that was refused because of a rate, as a metric and for its source. */
export const countLimited = (subject: IntakeRateLimit["subject"], context: Context.Context<never>): void =>
  counters[subject].updateUnsafe(1, context)
