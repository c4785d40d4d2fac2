/** Why intake refuses a request: errors that several of its steps share. */
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IntakeRateLimit } from "../limit/RateLimiter.ts"
import { refusalMessage } from "../verification/VerifyRequest.ts"
import type { RefusalReason } from "../verification/VerifySender.ts"
import { IntakeError } from "./IntakeError.ts"

/** Every reason for which intake refuses a request. */
export type Refused = IntakeError | StoreUnavailable

/** 429: too many requests a minute from one client, or to one source. */
export const overRate = ({ limit, subject, retryAfter }: IntakeRateLimit) =>
  new IntakeError({
    code: "rate_limited",
    message: `More than ${limit} requests a minute for one ${subject === "client" ? "address" : "source"}: retry in ${retryAfter} s`,
    retryAfter,
  })

/** 404: no open source has this address. */
export const notFound = () => new IntakeError({ code: "not_found", message: "This address does not accept data" })

/** 503: the certificate or the confirmation could not be fetched before the deadline. */
export const snsTooLate = () =>
  new StoreUnavailable({ message: "Amazon SNS did not respond in time", retryAfter: 20, outcomeUnknown: false })

/** 503: each attempt found that the source had been changed meanwhile. */
export const sourceKeepsChanging = () =>
  new StoreUnavailable({
    message: "The source is being modified; nothing was saved, send it again",
    retryAfter: 1,
    outcomeUnknown: false,
  })

/** For a request whose sender is not verified. */
export const badSignature = (reason: RefusalReason): IntakeError =>
  new IntakeError({ code: "bad_signature", message: refusalMessage(reason) })
