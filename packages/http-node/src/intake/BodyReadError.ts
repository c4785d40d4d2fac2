/**
 * Why a body was not read to its end.
 *
 * Decision: docs/decisions/0004-requests-that-run-out-of-time.md
 */
import { ProgramMistake } from "../server/Fault.ts"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"

export type BodyReadError = IntakeError | StoreUnavailable

/** Too many bytes, before or after decoding the content encoding. */
export const tooLarge = (limit: number): IntakeError =>
  new IntakeError({ code: "too_large", message: `A body may be at most ${limit} bytes; nothing was saved`, limit })

/** No byte arrived for too long, or the whole body took too long. */
export const tooSlow = (): IntakeError =>
  new IntakeError({ code: "timeout", message: "The body did not arrive in time; nothing was saved" })

/** The sender disconnected in the middle of the body. */
export const interrupted = (): IntakeError =>
  new IntakeError({ code: "timeout", message: "The body was interrupted; nothing was saved" })

/** The memory for unfinished bodies is exhausted. */
export const bodyBufferFull = (): StoreUnavailable =>
  new StoreUnavailable({ message: "Too many bodies are arriving at once", retryAfter: 5, outcomeUnknown: false })

/** The embedding program has already read the body. */
export const bodyConsumed = (): ProgramMistake =>
  new ProgramMistake(
    "The request body was consumed before the cabinet could read it: mount the cabinet's handler in front of any body parser",
  )
