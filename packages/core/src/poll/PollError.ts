/** The error for refused operations on polls. Errors during a run are in its log. */
import { Schema } from "effect"
import { POLL_SETTINGS } from "./PollSettings.ts"

/**
 * `busy`: it is running, in this process or another, or another caller is changing it. `headers_needed`: its headers
 * would go to another origin than the one they were set for.
 */
export class PollError extends Schema.TaggedError<PollError>()("PollError", {
  code: Schema.Literals([
    "no_such_poll",
    "no_such_source",
    "bad_url",
    "not_public",
    "name_not_found",
    ...POLL_SETTINGS.errors.map(({ code }) => code),
    "bad_header",
    "headers_needed",
    "busy",
  ]),
  message: Schema.String,
}) {}

export const pollError = (code: PollError["code"], message: string): PollError => new PollError({ code, message })
