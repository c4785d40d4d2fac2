/** What the screen of all integrations shows. */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { type Frame, may } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { shownPage } from "../screen/IdPages.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { healthFrom } from "./AddressHealth.ts"
import { type IntegrationData, integrationScreen } from "./IntegrationScreen.ts"

/** The screen of all integrations, with what a request has just issued. */
export const integrationsFrom = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const addresses = yield* Addresses
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const reports = yield* ReportLogin
  const health = yield* healthFrom
  return Effect.fnUntraced(function* (
    frame: Frame,
    {
      pairs = [],
      issued = null,
      issuedLogin = null,
    }: Partial<Pick<IntegrationData, "issued" | "issuedLogin">> & { readonly pairs?: Pairs },
  ) {
    const state = may(frame, "report_login.read") ? reports.get : Effect.succeed(null)
    const pages = {
      keys: shownPage(keys.list, valueOf(pairs, "keys_after")),
      addresses: shownPage(addresses.list, valueOf(pairs, "after")),
    }
    const [shown, known, login] = yield* Effect.all([Effect.all(pages), sources.list, state])
    const going = yield* health(shown.addresses.items)
    const data = { ...shown, sources: known, timeZone, issued, login, issuedLogin, going }
    return { screen: integrationScreen(frame, data) }
  })
})
