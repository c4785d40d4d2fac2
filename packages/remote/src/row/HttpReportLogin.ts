/** The login for reports of a remote cabinet. */
import { type IssuedReportLogin, ReportLogin, ReportLoginError } from "@data-cabinet/core/row/ReportLogin"
import type { ReportLoginState } from "@data-cabinet/core/row/ReportLoginStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(ReportLoginError)
const path = ["report-login"]

export const layer = Layer.effect(
  ReportLogin,
  Effect.map(ManageApi, (api) =>
    ReportLogin.of({
      get: refusalAsDefect(api.json<ReportLoginState>({ method: "GET", path })),
      issue: () => refusedAs(api.json<IssuedReportLogin>({ method: "POST", path, body: {} }), known),
      revoke: () => refusedAs(api.json<ReportLoginState>({ method: "DELETE", path }), known),
    }),
  ),
)
