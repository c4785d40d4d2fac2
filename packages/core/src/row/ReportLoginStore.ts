/** Manages the role for reports in the database. `ReportLogin` decides whether to issue it. */
import * as Shape from "../json/Shape.ts"
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** Something that the login may do besides reading, and the statement with which an administrator revokes it. */
export interface RightBeyondReading {
  readonly right: string
  readonly remedy: string
}

/** The current state of the login. */
export interface ReportLoginState {
  readonly role: string
  /** Whether it can log in, because a password was issued. */
  readonly active: boolean
  /** Where clients connect, without the password; null if the database is reachable only on this machine. */
  readonly url: string | null
  /** The number of its sessions, and the limit. */
  readonly sessions: number
  readonly maxSessions: number
  readonly beyond: ReadonlyArray<RightBeyondReading>
}

/** The members of the login as the APIs show them. */
export const reportLoginMembers = {
  role: Shape.text("The role of the database."),
  active: Shape.flag("Whether it can log in: a password has been issued."),
  url: Shape.orNull(Shape.text("Where it connects, without the password; null while the database listens on no port.")),
  sessions: Shape.whole("Its sessions now."),
  maxSessions: Shape.whole("How many it may have."),
  beyond: Shape.list(
    Shape.object<RightBeyondReading>("A right.", {
      right: Shape.text("What it can do."),
      remedy: Shape.text("The statement by which an administrator revokes it."),
    }),
    "What PostgreSQL lets it do besides reading, because it lets every role.",
  ),
} satisfies Shape.Members<ReportLoginState>

/** The login as the APIs show it. */
export const reportLoginShape = Shape.named(
  "ReportLogin",
  Shape.object<ReportLoginState>("The login with which other programs read the tables in SQL.", reportLoginMembers),
)

/** `statements`: SQL for a user with the right to run it. */
export type LoginOutcome<A> =
  | { readonly is: "done"; readonly value: A }
  | { readonly is: "no_reader"; readonly role: string }
  | { readonly is: "denied"; readonly detail: string; readonly statements: ReadonlyArray<string> }

export class ReportLoginStore extends Context.Service<
  ReportLoginStore,
  {
    readonly read: Effect.Effect<ReportLoginState, StoreUnavailable>
    /**
     * Issues a new password, which is returned and stored nowhere, and the reader's grants; ends the login's sessions.
     */
    readonly issue: Effect.Effect<LoginOutcome<{ readonly password: string }>, StoreUnavailable>
    /** Prevents further logins, and ends its sessions. */
    readonly revoke: Effect.Effect<LoginOutcome<null>, StoreUnavailable>
  }
>()("@data-cabinet/core/row/ReportLoginStore") {}
