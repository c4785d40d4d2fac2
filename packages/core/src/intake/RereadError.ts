/** The error for refused rereadings, and why an event cannot be read again. */
import { Schema } from "effect"
import { UNREADABLE_REASONS } from "./RereadOriginal.ts"

/** The reasons of `rereadOriginal`, and two of the event itself. */
export const REREAD_REASONS = ["in_trash", "no_original", ...UNREADABLE_REASONS] as const
/** Why a rereading is refused. */
export type RereadReason = (typeof REREAD_REASONS)[number]

/** In words, without a full stop. */
export const REREAD_REASON_WORDS: Readonly<Record<RereadReason, string>> = {
  in_trash: "it is in the trash; restore it first",
  no_original: "it has no original request, or no longer",
  cut_body: "its body is longer than the 64 KB that are kept",
  encoded_body: "its content encoding could not be decoded",
  not_a_form: "its body is JSON, which shows its own charset",
  no_text: "its original has only ASCII, which every charset reads alike",
  unexplained: "its fields are not those of the kept original",
}

/** `not_reread`: none of the events can be read again; `reason` is the first event's. */
export class RereadError extends Schema.TaggedError<RereadError>()("RereadError", {
  code: Schema.Literals([
    "no_such_source",
    "no_such_event",
    "too_many_events",
    "bad_cursor",
    "bad_encoding",
    "not_reread",
  ]),
  message: Schema.String,
  reason: Schema.optionalKey(Schema.Literals(REREAD_REASONS)),
}) {}
