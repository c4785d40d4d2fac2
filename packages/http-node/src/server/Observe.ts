/**
 * Observability of every request, in one place: its metrics, its span if traces are on, its log line, and its fault, which
 * is logged whole under an id and becomes the route's own response. All routes pass through here; no other code records them.
 *
 * A span carries the route's pattern, never the address, which holds secrets (intake) and values (filters), and no header.
 * It continues the sender's trace if the request names one.
 */
import { isTraced } from "@data-cabinet/core/runtime/Instrument"
import { Clock, Context, Effect, Exit, type LogLevel, Option, References, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"
import { logFault } from "./Fault.ts"
import { type Response, type Request, RequestGone } from "./Request.ts"
import { countRequest } from "./RequestMetrics.ts"
import type { Route, Target } from "./Route.ts"

export const observe = async (
  route: Route,
  request: Request,
  target: Target,
  /** Where the metrics are kept. */
  context: Context.Context<never>,
): Promise<Response> => {
  let began = performance.now()
  const span = isTraced(request.context) ? beginSpan(route, request) : undefined
  let response: Response
  try {
    response = await route.handle(request, target)
  } catch (reason) {
    if (reason instanceof RequestGone) {
      if (span !== undefined) endSpan(span, request, Exit.interrupt())
      throw reason
    }
    response = route.fault(logFault(route, reason, request.context), request)
  }
  began += response.waitedMillis ?? 0
  countRequest(route, response.status, began, context)
  if (span !== undefined) {
    span.attribute("http.response.status_code", response.status)
    endSpan(span, request, Exit.void)
  }
  if (logsRequests(Context.get(request.context, References.MinimumLogLevel))) {
    logRequest(request, route, response.status, began)
  }
  return response
}

const beginSpan = (route: Route, request: Request): Tracer.Span => {
  const { context, method, id } = request
  const parent = Option.orElse(HttpTraceContext.fromHeaders(Headers.fromInput(request.headers)), () =>
    Context.getOption(context, Tracer.ParentSpan),
  )
  const span = Context.get(context, Tracer.Tracer).span({
    name: `${method} ${route.path}`,
    parent,
    annotations: Context.empty(),
    links: [],
    startTime: Context.get(context, Clock.Clock).currentTimeNanosUnsafe(),
    kind: "server",
    root: false,
    sampled: Option.isNone(parent) || parent.value.sampled,
  })
  span.attribute("http.request.method", method)
  span.attribute("http.route", route.path)
  span.attribute("request.id", id)
  request.context = Context.add(context, Tracer.ParentSpan, span)
  return span
}

const endSpan = (span: Tracer.Span, { context }: Request, exit: Exit.Exit<unknown, unknown>): void =>
  span.end(Context.get(context, Clock.Clock).currentTimeNanosUnsafe(), exit)

/** Whether every request gets a log line. */
const logsRequests = (least: LogLevel.LogLevel): boolean => least === "Debug" || least === "Trace" || least === "All"

/** Logged under the route's pattern: an intake address is a secret, and filters hold values. */
const logRequest = ({ method, context }: Request, { path }: Route, status: number, began: number): void => {
  const line = `${method} ${path} ${status} in ${(performance.now() - began).toFixed(1)} ms`
  Effect.runForkWith(context)(Effect.logDebug(line))
}
