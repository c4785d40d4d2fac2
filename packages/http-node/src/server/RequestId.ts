/**
 * The name of a request in logs and traces, which its sender is told: the one it brought, or one made here. What it
 * brought is taken only if it can do no harm in a log.
 */
import { randomUUID } from "node:crypto"
import { Context, References } from "effect"

export const REQUEST_ID_HEADER = "x-request-id"

/** That of the request under way; empty outside one. */
export const RequestId = Context.Reference<string>("@data-cabinet/http-node/server/RequestId", {
  defaultValue: () => "",
})

/** Letters, digits and a few signs, at most 128 of them: what balancers and tracers make. */
const SAFE = /^[A-Za-z0-9._:/+=@-]{1,128}$/

export const requestId = (brought: string | undefined): string =>
  brought !== undefined && SAFE.test(brought) ? brought : randomUUID()

/** The server's context with the request's id in it, and on every line that is logged under it. */
export const withRequestId = (context: Context.Context<never>, id: string): Context.Context<never> => {
  const annotations = { ...Context.get(context, References.CurrentLogAnnotations), requestId: id }
  return Context.add(Context.add(context, RequestId, id), References.CurrentLogAnnotations, annotations)
}
