/**
 * The login with which other programs (psql, reporting tools, notebooks) read the cabinet's tables in SQL. It reads the
 * same data as readers of the API, and never schema `cabinet`. Its password is shown once. Refuses if no client could
 * connect.
 */
import * as Shape from "../json/Shape.ts"
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type LoginOutcome, type ReportLoginState, ReportLoginStore, reportLoginMembers } from "./ReportLoginStore.ts"

/**
 * `no_reader`: the reader role, whose rights it would have, does not exist. `not_listening`: the embedded database
 * listens on no port. `login_denied`: the database's user may not create or change the role; the message has the SQL to
 * run.
 */
export class ReportLoginError extends Schema.TaggedError<ReportLoginError>()("ReportLoginError", {
  code: Schema.Literals(["no_reader", "not_listening", "login_denied"]),
  message: Schema.String,
}) {}

/** The login with its password, and a `url` that contains it. */
export interface IssuedReportLogin extends ReportLoginState {
  readonly url: string
  readonly password: string
}

/** The login with its password as the APIs show it. */
export const issuedReportLoginShape = Shape.named(
  "IssuedReportLogin",
  Shape.object<IssuedReportLogin>("The login for reports when its password is issued.", {
    ...reportLoginMembers,
    url: Shape.text("Where it connects, with the password."),
    password: Shape.text("The password, shown only in this response."),
  }),
)

export class ReportLogin extends Context.Service<
  ReportLogin,
  {
    readonly get: Effect.Effect<ReportLoginState, StoreUnavailable>
    /** Issues a new password; the old one stops working, and its sessions end. */
    readonly issue: () => Effect.Effect<IssuedReportLogin, ReportLoginError | StoreUnavailable>
    readonly revoke: () => Effect.Effect<ReportLoginState, ReportLoginError | StoreUnavailable>
  }
>()("@data-cabinet/core/row/ReportLogin") {
  static readonly layer = Layer.effect(
    ReportLogin,
    Effect.map(ReportLoginStore, (store) =>
      ReportLogin.of({
        get: store.read,
        issue: Effect.fnUntraced(function* () {
          if ((yield* store.read).url === null) return yield* NOT_LISTENING
          const { password } = yield* valueOf(yield* store.issue)
          const { url, ...state } = yield* store.read
          return url === null ? yield* NOT_LISTENING : { ...state, url: withPassword(url, password), password }
        }),
        revoke: Effect.fnUntraced(function* () {
          yield* valueOf(yield* store.revoke)
          return yield* store.read
        }),
      }),
    ),
  )
}

const NOT_LISTENING = new ReportLoginError({
  code: "not_listening",
  message:
    "The database listens on no TCP port, so no other program could connect. For the embedded database, set CABINET_POSTGRES_PORT and restart the server.",
})

const withPassword = (url: string, password: string): string => {
  const whole = new URL(url)
  whole.password = encodeURIComponent(password)
  return whole.toString()
}

const valueOf = <A>(outcome: LoginOutcome<A>): Effect.Effect<A, ReportLoginError> => {
  switch (outcome.is) {
    case "done":
      return Effect.succeed(outcome.value)
    case "no_reader":
      return Effect.fail(
        new ReportLoginError({
          code: "no_reader",
          message: `The reader role ${outcome.role} does not exist; \`cabinet doctor\` says why.`,
        }),
      )
    case "denied":
      return Effect.fail(
        new ReportLoginError({
          code: "login_denied",
          message: `The database's user may not do this (${outcome.detail}). Let an administrator run: ${outcome.statements.join("; ")};`,
        }),
      )
  }
}
