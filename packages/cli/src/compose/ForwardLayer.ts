/**
 * Sends deliveries to a program of the command's user, wherever it runs: the user gives the one address on the command
 * line, and can reach it anyway. Servers never use this; their deliveries go to public addresses only.
 */
import { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import * as HttpCourier from "@data-cabinet/delivery/delivery/HttpCourier"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import { Layer } from "effect"

const EVERYWHERE = [parseNetwork("0.0.0.0/0")!, parseNetwork("::/0")!]

export const forwardLayer = Layer.fresh(
  AttemptDelivery.layer.pipe(
    Layer.provide(HttpCourier.layer()),
    Layer.provide(PinnedClient.layer({ allowedNetworks: EVERYWHERE })),
    Layer.provide(NameLookup.layer()),
  ),
)
