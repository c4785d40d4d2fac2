/** The role for reports in the database. Whether it is given out is decided by `ReportLogin`. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** Something that the login may do besides reading, and the statement by which an administrator revokes it. */
export interface RightBeyondReading {
  readonly right: string
  readonly remedy: string
}

/** The login as it is now. */
export interface ReportLoginState {
  readonly role: string
  /** Whether it can log in: its password was requested once. */
  readonly active: boolean
  /** Where it connects, without the password; null if the database is reached on this machine alone. */
  readonly url: string | null
  /** Sessions now, and at most. */
  readonly sessions: number
  readonly maxSessions: number
  readonly beyond: ReadonlyArray<RightBeyondReading>
}

/** `statements`: SQL for a user with the right to run it. */
export type LoginOutcome<A> =
  | { readonly is: "done"; readonly value: A }
  | { readonly is: "no_reader"; readonly role: string }
  | { readonly is: "denied"; readonly detail: string; readonly statements: ReadonlyArray<string> }

export class ReportLoginStore extends Context.Service<
  ReportLoginStore,
  {
    readonly read: Effect.Effect<ReportLoginState, StoreUnavailable>
    /** Gives it a new password, which is returned and stored nowhere, and the reader's grants; ends its sessions. */
    readonly issue: Effect.Effect<LoginOutcome<{ readonly password: string }>, StoreUnavailable>
    /** It can no longer log in, and its sessions are ended. */
    readonly revoke: Effect.Effect<LoginOutcome<null>, StoreUnavailable>
  }
>()("@data-cabinet/core/row/ReportLoginStore") {}
