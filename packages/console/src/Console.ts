/**
 * The console of one cabinet: its screens and assets as routes, over the cabinet's use cases.
 *
 * Decision: docs/decisions/0053-the-console-is-html-of-the-server.md
 */
import { Effect, Layer } from "effect"
import { assetRoute } from "./assets/Assets.ts"
import { ConsoleSettings } from "./ConsoleSettings.ts"
import { screenRoutes } from "./screen/ScreenRoute.ts"
import { allScreens } from "./Screens.ts"
import type { ConsoleScreen } from "./screen/ConsoleScreen.ts"
import { ConsoleRoutes } from "@data-cabinet/http-node/server/HttpSettings"

/** Any other address below `/console/` shows a person a page with links that lead on. */
const MISSING_SCREEN: ConsoleScreen = {
  path: "/console/{...}",
  action: "self.read",
  get: () => Effect.fail({ code: "no_such_endpoint", message: "This address has no screen." }),
}

/** Needs the same ports and use cases as the management API, and `HttpSettings`. */
export const layer = (settings: ConsoleSettings["Service"]) =>
  Layer.effect(
    ConsoleRoutes,
    Effect.gen(function* () {
      return [assetRoute, ...(yield* screenRoutes([...(yield* allScreens), MISSING_SCREEN]))]
    }),
  ).pipe(Layer.provide(Layer.succeed(ConsoleSettings, settings)))
