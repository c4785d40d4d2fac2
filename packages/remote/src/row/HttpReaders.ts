/** What SQL readers of a remote cabinet have: the schemas that they see, and the login for reports. */
import { type IssuedReportLogin, ReportLogin, ReportLoginError } from "@data-cabinet/core/row/ReportLogin"
import type { ReportLoginState } from "@data-cabinet/core/row/ReportLoginStore"
import { SchemaGrants, SchemaGrantError } from "@data-cabinet/core/row/SchemaGrants"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const grantErrors = ofCodes(SchemaGrantError)
const loginErrors = ofCodes(ReportLoginError)
const loginPath = ["report-login"]

const schemaGrants = Layer.effect(
  SchemaGrants,
  Effect.map(ManageApi, (api) => {
    const change = (act: string) => (schema: string) =>
      Effect.map(
        refusedAs(
          api.json<{ readonly count: number }>({ method: "POST", path: ["schemas", schema, act] }),
          grantErrors,
        ),
        ({ count }) => ({ objects: count }),
      )
    const add = (schema: string) =>
      refusedAs(api.json<{ readonly author: string }>({ method: "POST", path: ["schemas", schema] }), grantErrors)
    const list = Effect.map(
      refusalAsDefect(api.list<{ readonly name: string }>({ method: "GET", path: ["schemas"] })),
      (all) => all.map(({ name }) => name),
    )
    return SchemaGrants.of({ expose: change("expose"), hide: change("hide"), add, list })
  }),
)

const reportLogin = Layer.effect(
  ReportLogin,
  Effect.map(ManageApi, (api) =>
    ReportLogin.of({
      get: refusalAsDefect(api.json<ReportLoginState>({ method: "GET", path: loginPath })),
      issue: () => refusedAs(api.json<IssuedReportLogin>({ method: "POST", path: loginPath, body: {} }), loginErrors),
      revoke: () => refusedAs(api.json<ReportLoginState>({ method: "DELETE", path: loginPath }), loginErrors),
    }),
  ),
)

export const layer = Layer.merge(schemaGrants, reportLogin)
