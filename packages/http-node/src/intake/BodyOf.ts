/** The body of an intake request. A body whose Content-Length exceeds the limit is refused before its first byte. */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Result } from "effect"
import type { Request } from "../server/Request.ts"
import { bodyConsumed, tooLarge } from "./BodyReadError.ts"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { type Body, IncomingBody } from "./IncomingBody.ts"

/** A small part of the body may be read ahead; see `IncomingBody`. */
export const bodyOf = (request: Request, limits: Limits, budget: BodyBudget, wheel: TimerWheel): Body => {
  const { headers } = request
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return { whole: async () => Result.fail(tooLarge(limits.maxBytes)), drop: () => {} }
  }
  const { body } = request
  if (body === undefined || body.readableEnded) return CONSUMED
  // A sender that waits for `100 Continue` gets it once its body is read (see refused/Expectation).
  return new IncomingBody(body, limits, budget, wheel, headers["expect"] === undefined)
}

/** Both the embedding program's log and the client get the message: usually the same developer reads both. */
const CONSUMED: Body = { whole: () => Promise.reject(bodyConsumed()), drop: () => {} }
