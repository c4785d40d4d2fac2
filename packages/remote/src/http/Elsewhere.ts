/** What a remote cabinet's own server does and no command asks for. */
import { Effect } from "effect"

export const elsewhere = (what: string): Effect.Effect<never> =>
  Effect.die(new Error(`${what} is done by the server, not over its management API`))
