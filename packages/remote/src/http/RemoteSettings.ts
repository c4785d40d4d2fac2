/** Which remote cabinet, with which token, and whether requests are sent or only shown. */
import { Context, Effect } from "effect"

export class RemoteSettings extends Context.Service<
  RemoteSettings,
  {
    /** The cabinet's base address, without a trailing slash. */
    readonly url: string
    readonly token: string
    /** If given, requests are passed to it as command lines instead of being sent, except lookups. */
    readonly show: ((line: string) => Effect.Effect<void>) | null
  }
>()("@data-cabinet/remote/http/RemoteSettings") {}

/** A request that only prepares another one, such as finding an id: it is sent even if the other one is only shown. */
export const IsLookup = Context.Reference<boolean>("@data-cabinet/remote/http/IsLookup", {
  defaultValue: () => false,
})

export const lookup = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(work, IsLookup, true)

/** Operations of ports that only a cabinet's own server performs: no command requests them of a remote cabinet. */
export const serverOnly = (what: string): Effect.Effect<never> =>
  Effect.die(new Error(`${what} is done by the server, not over its management API`))
