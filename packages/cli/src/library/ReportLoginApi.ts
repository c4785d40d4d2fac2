/** The login with which other programs read the tables in SQL, with promises. */
import { type IssuedReportLogin, ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import type { ReportLoginState, RightBeyondReading } from "@data-cabinet/core/row/ReportLoginStore"
import type { Run } from "./RunEffect.ts"

export type { IssuedReportLogin, ReportLoginState, RightBeyondReading }

/**
 * A database login for psql, a reporting tool or a notebook, which reads the same data as readers of the API.
 */
export interface ReportLoginApi {
  /** Its current state, without its password. */
  readonly get: () => Promise<ReportLoginState>
  /**
   * Sets a new password and ends the sessions of the old one. The password is returned only here. Rejects with
   * `not_listening` if no other program could connect, and with `login_denied` if the database's user may not change
   * the login.
   */
  readonly issue: () => Promise<IssuedReportLogin>
  /** Disables the login. */
  readonly revoke: () => Promise<ReportLoginState>
}

/** Builds the methods of `cabinet.reportLogin`. */
export const reportLoginApi = (run: Run): ReportLoginApi => ({
  get: () => run(ReportLogin.use((login) => login.get)),
  issue: () => run(ReportLogin.use((login) => login.issue())),
  revoke: () => run(ReportLogin.use((login) => login.revoke())),
})
