/** The login with which other programs read the tables in SQL, over the management API. */
import { ReportLogin, issuedReportLoginShape } from "@data-cabinet/core/row/ReportLogin"
import { reportLoginShape } from "@data-cabinet/core/row/ReportLoginStore"
import { Effect } from "effect"
import { one } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"

export const manageReportLogin = Effect.gen(function* () {
  const login = yield* ReportLogin
  const common = { tag: "Database", path: "/manage/v1/report-login" } as const
  return [
    manageEndpoint({
      ...common,
      id: "getReportLogin",
      method: "GET",
      summary: "The login for reports",
      description: "Where other programs read the tables in SQL, and as whom. The password is not shown.",
      action: "report_login.read",
      response: one(reportLoginShape, "The login."),
      respond: () => Effect.map(login.get, reportLoginShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "issueReportLogin",
      method: "POST",
      summary: "Give the login for reports a new password",
      description:
        "The password is shown only in this response. Sessions with the previous one are ended, and it no longer works.",
      action: "report_login.change",
      once: { completed: "after", withheld: ["password"], replay: one(reportLoginShape, "The login.") },
      response: one(issuedReportLoginShape, "The login with its password.", 201),
      errors: ["no_reader", "not_listening", "login_denied"],
      respond: () => Effect.map(login.issue(), issuedReportLoginShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "revokeReportLogin",
      method: "DELETE",
      summary: "Revoke the login for reports",
      description: "Its sessions end, and it stops working until a password is issued again.",
      action: "report_login.change",
      response: one(reportLoginShape, "The login."),
      errors: ["no_reader", "not_listening", "login_denied"],
      respond: () => Effect.map(login.revoke(), reportLoginShape.json),
    }),
  ]
})
