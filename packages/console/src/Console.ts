/**
 * The console of one cabinet: its screens and assets as routes, over the cabinet's use cases.
 *
 * Decision: docs/decisions/0053-the-console-is-html-of-the-server.md
 */
import { ConsoleRoutes } from "@data-cabinet/http-node/server/ConsoleRoutes"
import { Effect, Layer } from "effect"
import { assetRoute } from "./assets/Assets.ts"
import { ConsoleSettings } from "./ConsoleSettings.ts"
import { MISSING_SCREEN } from "./screen/MissingScreen.ts"
import { screenRoutes } from "./screen/ScreenRoute.ts"
import { allScreens } from "./Screens.ts"

/** Needs the same ports and use cases as the management API, and `HttpSettings`. */
export const layer = (settings: ConsoleSettings["Service"]) =>
  Layer.effect(
    ConsoleRoutes,
    Effect.gen(function* () {
      return [assetRoute, ...(yield* screenRoutes([...(yield* allScreens), MISSING_SCREEN]))]
    }),
  ).pipe(Layer.provide(Layer.succeed(ConsoleSettings, settings)))
