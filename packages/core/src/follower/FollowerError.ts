/** The errors of followers of clients. */
import { Schema } from "effect"

/** Refusals of the read API. */
export class ClientFollowerError extends Schema.TaggedError<ClientFollowerError>()("ClientFollowerError", {
  code: Schema.Literals(["bad_follower", "too_many_followers"]),
  message: Schema.String,
  /** The parameter at fault. */
  param: Schema.String,
}) {}

/** Refusals of the operator's acts. */
export class FollowerError extends Schema.TaggedError<FollowerError>()("FollowerError", {
  code: Schema.Literals(["no_such_follower", "bad_start"]),
  message: Schema.String,
}) {}
