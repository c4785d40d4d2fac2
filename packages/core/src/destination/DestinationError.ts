/** The error for refused operations on destinations. Failures of writing are in the destination itself. */
import { Effect, Schema } from "effect"
import { S3_SETTINGS } from "./S3Settings.ts"

/**
 * `not_s3`: only a destination of another kind has such a setting. `credentials_needed`: a bucket needs credentials, and another
 * endpoint new ones. `destination_filled`: it has files or messages, beside which the same events would be written again.
 * `destination_failed`: the place could not be read; the message says why.
 */
export class DestinationError extends Schema.TaggedError<DestinationError>()("DestinationError", {
  code: Schema.Literals([
    "no_such_destination",
    "no_such_source",
    "bad_location",
    ...S3_SETTINGS.errors.map(({ code }) => code),
    "not_public",
    "name_not_found",
    "not_s3",
    "bad_credentials",
    "credentials_needed",
    "destination_exists",
    "destination_filled",
    "destination_failed",
    "too_many_destinations",
  ]),
  message: Schema.String,
}) {}

/** Refuses in words. */
export const refuse = (code: DestinationError["code"], message: string) =>
  Effect.fail(new DestinationError({ code, message }))
