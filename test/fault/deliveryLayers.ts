/** The layers of a process that only delivers, allowed to reach the loopback. */
import type { DispatcherOptions } from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import { layer as loop } from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import { layer as courier } from "@data-cabinet/delivery/delivery/HttpCourier"
import { layer as addressCheck } from "@data-cabinet/delivery/delivery/PinnedAddressCheck"
import { type NameLookupOptions, layer as names } from "@data-cabinet/delivery/outgoing/NameLookup"
import { layer as client } from "@data-cabinet/delivery/outgoing/PinnedClient"
import { type Network, parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { Layer, References } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"

const LOOPBACK: ReadonlyArray<Network> = [parseNetwork("127.0.0.0/8")!]

export interface SendingOptions extends Pick<NameLookupOptions, "servers"> {
  readonly deadlineMillis?: number
  /** How long a name is looked up. */
  readonly lookupMillis?: number
  readonly allowed?: ReadonlyArray<Network>
  /** The certificate of an authority that is trusted in addition to the system's. */
  readonly ca?: ReadonlyArray<string>
}

export const sendingLayer = ({
  allowed = LOOPBACK,
  ca = [],
  servers,
  lookupMillis = 700,
  ...options
}: SendingOptions = {}) =>
  Layer.mergeAll(courier(options), addressCheck).pipe(
    Layer.provideMerge(client({ allowedNetworks: allowed, ca })),
    Layer.provide(
      names({ hostsFile: "/dev/null", deadlineMillis: lookupMillis, ...(servers === undefined ? {} : { servers }) }),
    ),
  )

export const deliveryLayer = (
  url: string,
  options: DispatcherOptions & SendingOptions & { readonly loop?: boolean } = {},
) => {
  const cabinet = testCabinetLayer(url, { delivers: true, override: sendingLayer(options) })
  const quiet = Layer.succeed(References.MinimumLogLevel, "Fatal")
  return Layer.provideMerge(options.loop === false ? cabinet : Layer.provideMerge(loop(options), cabinet), quiet)
}
