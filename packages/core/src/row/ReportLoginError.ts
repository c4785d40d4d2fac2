/** The error for a refused login for reports. */
import { Schema } from "effect"

/**
 * `no_reader`: the reader role, whose rights it would have, does not exist. `not_listening`: the embedded database
 * listens on no port. `login_denied`: the database's user may not create or change the role; the message has the SQL to
 * run.
 */
export class ReportLoginError extends Schema.TaggedError<ReportLoginError>()("ReportLoginError", {
  code: Schema.Literals(["no_reader", "not_listening", "login_denied"]),
  message: Schema.String,
}) {}
