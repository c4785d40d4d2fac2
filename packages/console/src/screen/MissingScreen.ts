/** Every other address below `/console/`: a person reads a page there, with the way on. */
import { Effect } from "effect"
import type { ConsoleScreen } from "./ConsoleScreen.ts"

export const MISSING_SCREEN: ConsoleScreen = {
  path: "/console/{...}",
  action: "self.read",
  get: () => Effect.fail({ code: "no_such_endpoint", message: "This address has no screen." }),
}
