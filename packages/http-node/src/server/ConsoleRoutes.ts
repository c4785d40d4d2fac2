/** Where the console's screens join a cabinet's routes. Empty for a cabinet that is composed without it. */
import { Context } from "effect"
import type { Route } from "./Route.ts"

export const ConsoleRoutes = Context.Reference<ReadonlyArray<Route>>("@data-cabinet/http-node/server/ConsoleRoutes", {
  defaultValue: () => [],
})

/** The path of the console's first screen, below the base address. */
export const CONSOLE_PATH = "/console/"
