/** The console's screens, without a cabinet behind them. */
import type { ConsoleScreen } from "@data-cabinet/console/screen/ConsoleScreen"
import { allScreens } from "@data-cabinet/console/Screens"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import { Cause, Context, Effect, Exit, Scope } from "effect"

/** Stands in for any service: listing the screens needs no cabinet. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_, name) => (typeof name === "symbol" || name === "then" ? undefined : anything),
  apply: () => Effect.succeed(anything),
})

const MISSING = /^Service not found: (@data-cabinet\/\S+)/

/** Every screen of the console, built with stand-ins for its services. */
export const screens = (): ReadonlyArray<ConsoleScreen> => {
  const services = new Map<string, unknown>([
    [Scope.Scope.key, Scope.makeUnsafe()],
    [HttpSettings.key, { baseUrl: "https://data.example.com" }],
  ])
  for (;;) {
    const context: Context.Context<Effect.Services<typeof allScreens>> = Context.makeUnsafe(new Map(services))
    const exit = Effect.runSyncExitWith(context)(allScreens)
    if (Exit.isSuccess(exit)) return exit.value
    const error = Cause.squash(exit.cause)
    const [, missing] = MISSING.exec(error instanceof Error ? error.message : "") ?? []
    if (missing === undefined || services.has(missing)) throw error
    services.set(missing, anything)
  }
}
