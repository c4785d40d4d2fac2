/** The login for reports as the management API and `--json` show it. */
import type { IssuedReportLogin } from "./ReportLogin.ts"
import type { ReportLoginState } from "./ReportLoginStore.ts"

export const reportLoginJson = ({ role, active, url, sessions, maxSessions, beyond }: ReportLoginState) => ({
  role,
  active,
  url,
  sessions,
  max_sessions: maxSessions,
  beyond,
})

/** The login as JSON when it is issued, with its password. */
export const issuedReportLoginJson = (login: IssuedReportLogin) => ({
  ...reportLoginJson(login),
  url: login.url,
  password: login.password,
})
