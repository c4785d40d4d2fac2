/** The body of a request that is sent to the intake. One whose Content-Length is past the limit is refused before its first byte. */
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Result } from "effect"
import type { Request } from "../server/Request.ts"
import { READ_BEFORE, tooLarge } from "./BodyError.ts"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { type Body, IncomingBody } from "./IncomingBody.ts"

/** A few of its bytes may be taken in before they are asked for, see `IncomingBody`. */
export const bodyOf = (request: Request, limits: Limits, budget: BodyBudget, wheel: TimerWheel): Body => {
  const { headers } = request
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return { whole: async () => Result.fail(tooLarge(limits.maxBytes)), drop: () => {} }
  }
  const { body } = request
  if (body === undefined || body.readableEnded) return READ_ALREADY
  // A sender that waits for `100 Continue` gets it once its body is read (see refused/Expectation).
  return new IncomingBody(body, limits, budget, wheel, headers["expect"] === undefined)
}

/** A mistake of the program that mounts us, to be told in its log. */
const READ_ALREADY: Body = { whole: () => Promise.reject(new Error(READ_BEFORE)), drop: () => {} }
