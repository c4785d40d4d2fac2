/**
 * Errors of intake for requests that are not stored. A body that merely does not parse is stored, and is a result rather
 * than an error.
 */
import { Schema } from "effect"

/** Every reason for refusing a request; each has one status and one page that explains it. */
export const INTAKE_ERROR_CODES = [
  "not_found",
  "rate_limited",
  "bad_signature",
  "too_large",
  "too_many_items",
  "unsupported_encoding",
  "timeout",
  "bad_fields",
] as const

/** A reason for refusing a request. */
export type IntakeErrorCode = (typeof INTAKE_ERROR_CODES)[number]

/**
 * `message` is for the sender and never contains any part of the intake address. `retryAfter` (whole seconds) is set for
 * `rate_limited`, `limit` for `too_large` (bytes) and `too_many_items` (items), `count` for `too_many_items`.
 */
export class IntakeError extends Schema.TaggedError<IntakeError>()("IntakeError", {
  code: Schema.Literals(INTAKE_ERROR_CODES),
  message: Schema.String,
  retryAfter: Schema.optionalKey(Schema.Int),
  limit: Schema.optionalKey(Schema.Int),
  count: Schema.optionalKey(Schema.Int),
}) {}
