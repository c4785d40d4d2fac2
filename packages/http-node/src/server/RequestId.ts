/**
 * The id of a request in logs and traces, returned to its sender: the one the request carried, or a generated one. A
 * received id is used only if it can do no harm in a log.
 */
import { randomUUID } from "node:crypto"
import { Context, References } from "effect"

export const REQUEST_ID_HEADER = "x-request-id"

/** The id of the current request; empty outside one. */
export const RequestId = Context.Reference<string>("@data-cabinet/http-node/server/RequestId", {
  defaultValue: () => "",
})

/** Letters, digits and a few signs, at most 128 of them: what load balancers and tracers generate. */
const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/

export const requestId = (brought: string | undefined): string =>
  brought !== undefined && SAFE.test(brought) ? brought : randomUUID()

/** The server's context with the request's id in it and on every line logged under it. */
export const withRequestId = (context: Context.Context<never>, id: string): Context.Context<never> => {
  const annotations = { ...Context.get(context, References.CurrentLogAnnotations), requestId: id }
  return Context.add(Context.add(context, RequestId, id), References.CurrentLogAnnotations, annotations)
}
