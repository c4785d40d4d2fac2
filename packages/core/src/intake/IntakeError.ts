/** What intake refuses without keeping it. A body that merely does not parse is kept, and is an answer, not an error. */
import { Schema } from "effect"

/** Every way to be turned away; each has one status and one page in words. */
export const INTAKE_ERROR_CODES = [
  "not_found",
  "rate_limited",
  "too_large",
  "too_many_items",
  "unsupported_encoding",
  "timeout",
  "bad_fields",
] as const

export type IntakeErrorCode = (typeof INTAKE_ERROR_CODES)[number]

/**
 * `message` is for the sender and never holds any part of the intake address. `retryAfter` (whole seconds) comes with
 * `rate_limited`, `limit` with `too_large` (bytes) and `too_many_items` (items), `count` with `too_many_items`.
 */
export class IntakeError extends Schema.TaggedError<IntakeError>()("IntakeError", {
  code: Schema.Literals(INTAKE_ERROR_CODES),
  message: Schema.String,
  retryAfter: Schema.optionalKey(Schema.Int),
  limit: Schema.optionalKey(Schema.Int),
  count: Schema.optionalKey(Schema.Int),
}) {}
