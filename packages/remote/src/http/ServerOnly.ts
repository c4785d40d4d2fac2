/** Operations of ports that only a cabinet's own server performs: no command requests them of a remote cabinet. */
import { Effect } from "effect"

export const serverOnly = (what: string): Effect.Effect<never> =>
  Effect.die(new Error(`${what} is done by the server, not over its management API`))
