/** The login with which other programs read the tables in SQL, with promises. */
import { type IssuedReportLogin, ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import type { ReportLoginState, RightBeyondReading } from "@data-cabinet/core/row/ReportLoginStore"
import type { Run } from "./RunEffect.ts"

export type { IssuedReportLogin, ReportLoginState, RightBeyondReading }

/**
 * A login of the database for psql, a program for reports or a notebook: it reads the same data as readers of the API.
 */
export interface ReportLoginApi {
  /** Its current state, without its password. */
  readonly get: () => Promise<ReportLoginState>
  /**
   * Gives it a new password; the only time that it is shown. The sessions of the old one end. Rejects with `not_listening`
   * where no other program could connect, and with `login_denied` where the database's user may not change it.
   */
  readonly issue: () => Promise<IssuedReportLogin>
  /** The login no longer works. */
  readonly revoke: () => Promise<ReportLoginState>
}

/** Builds the methods of `cabinet.reportLogin`. */
export const reportLoginApi = (run: Run): ReportLoginApi => ({
  get: () => run(ReportLogin.use((login) => login.get)),
  issue: () => run(ReportLogin.use((login) => login.issue())),
  revoke: () => run(ReportLogin.use((login) => login.revoke())),
})
