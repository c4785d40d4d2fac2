/** How other programs read the tables in SQL: the login for reports, whose password is shown once. */
import type { IssuedReportLogin } from "@data-cabinet/core/row/ReportLogin"
import type { ReportLoginState } from "@data-cabinet/core/row/ReportLoginStore"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { confirmed } from "../html/Confirmation.ts"
import { copyField } from "../html/Menu.ts"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"

export interface ReportLoginData {
  /** Null if the visitor may not see it. */
  readonly login: ReportLoginState | null
  /** The login issued by this request: shown now and never again. */
  readonly issuedLogin: IssuedReportLogin | null
}

export const reportLoginBlock = (frame: Frame, { login, issuedLogin }: ReportLoginData): HtmlValue => {
  if (login === null) return null
  const { integration, reports: words, table } = frame.words
  const path = consolePath(frame, "report-login")
  const issue = login.active
    ? confirmed(frame, {
        id: "rotate-report-login",
        face: words.rotate,
        kind: "",
        says: frame.words.ask.reportPassword,
        path,
        act: frame.words.ask.reportPasswordNow,
      })
    : actButton(path, words.issue, "main")
  const revoke =
    login.active &&
    confirmed(frame, {
      id: "revoke-report-login",
      face: integration.revoke,
      says: words.revokeHint,
      path: `${path}/revoke`,
      act: frame.words.ask.reportLoginNow,
    })
  const acts =
    may(frame, "report_login.change") && login.url !== null && markup`<div class="row wrap">${issue}${revoke}</div>`
  const issued =
    issuedLogin !== null &&
    markup`<div class="box good" role="status"><div class="grow"><p><b>${words.shownOnce}</b></p>${copyField("report-url", words.url, issuedLogin.url, table.copy)}</div></div>`
  const where =
    login.url === null
      ? markup`<p class="soft">${words.notListening}</p>`
      : login.active
        ? markup`${copyField("report-login", words.url, login.url, table.copy)}<p class="soft">${words.sessions(login.sessions, login.maxSessions)}</p>`
        : markup`<p class="soft">${words.none}</p>`
  const beyond =
    login.active &&
    login.beyond.length > 0 &&
    markup`<p class="soft">${words.beyond}</p><ul>${login.beyond.map(({ right, remedy }) => markup`<li>${right}: <code>${remedy}</code></li>`)}</ul>`
  return markup`<section aria-labelledby="reports"><div class="head"><h2 id="reports">${words.title}</h2>${acts}</div>${issued}
<div class="card"><p>${words.about}</p>${where}${beyond}</div></section>`
}
