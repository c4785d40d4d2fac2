/** Finds the cabinet of a request, by the host it was sent to. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { CABINET_NAME } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Context, Effect, Layer, Result } from "effect"
import { CabinetHttp } from "./CabinetHttp.ts"

type Http = CabinetHttp["Service"]

/** A cabinet; undefined if none has that name; an error while the registry is unavailable. */
export type Found = Result.Result<Http | undefined, StoreUnavailable>

export class Cabinets extends Context.Service<
  Cabinets,
  {
    /** The path below which the server is mounted, as in CabinetHttp; the server's own addresses are also below it. */
    readonly mountedAt: string
    /** `host` is the request's Host header, with its port; undefined when no cabinet has that name. */
    readonly byHost: (host: string | undefined) => Promise<Found>
  }
>()("@data-cabinet/http-node/routes/Cabinets") {
  /** A server of one cabinet, which responds under any host. */
  static readonly single = Layer.effect(
    Cabinets,
    Effect.map(CabinetHttp, (http) => {
      const found = Result.succeed(http)
      return Cabinets.of({ mountedAt: http.mountedAt, byHost: async () => found })
    }),
  )

  /** A server of many: the cabinet is the left-most label of the host below the service's domain. */
  static readonly many = (serviceDomain: string, find: (name: string) => Promise<Found>): Layer.Layer<Cabinets> =>
    Layer.succeed(Cabinets, {
      mountedAt: "",
      byHost: async (host) => {
        const name = cabinetName(host, serviceDomain)
        return name === undefined ? Result.succeed(undefined) : find(name)
      },
    })
}

/** `orders` for `orders.example.com:8080` under `example.com`; undefined for any other host, including one label deeper. */
export const cabinetName = (host: string | undefined, serviceDomain: string): string | undefined => {
  if (host === undefined) return undefined
  const bare = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")
  const suffix = `.${serviceDomain.toLowerCase().replace(/:\d+$/, "")}`
  if (!bare.endsWith(suffix)) return undefined
  const label = bare.slice(0, -suffix.length)
  return CABINET_NAME.test(label) ? label : undefined
}
