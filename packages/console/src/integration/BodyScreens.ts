/** The acts of an address's body. */
import type { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { STANDARD_BODY } from "@data-cabinet/core/delivery/BodySetting"
import { Effect } from "effect"
import type { Frame } from "../html/Shell.ts"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleRefusal, ConsoleScreen, ScreenResult } from "../screen/ConsoleScreen.ts"
import type { AddressData } from "./AddressScreen.ts"
import { bodyIn } from "./BodyFields.ts"

/** The screen of an address, with the result of an act. */
export type Card = (
  frame: Frame,
  id: number,
  shows?: AddressData["shows"],
) => Effect.Effect<ScreenResult, ConsoleRefusal>

/** Saves the body of an address, or previews the one that its form has. */
export const bodyScreens = (addresses: Addresses["Service"], card: Card): ReadonlyArray<ConsoleScreen> => [
  act({
    path: "/console/addresses/{id}/body",
    action: "address.change",
    home: ([id]) => `addresses/${id}`,
    repeat: "allowed",
    respond: (call) => Effect.as(addresses.set(idOf(call.path[0]), { body: bodyIn(call) ?? STANDARD_BODY }), null),
  }),
  act({
    path: "/console/addresses/{id}/preview",
    action: "address.change",
    home: ([id]) => `addresses/${id}`,
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const id = idOf(call.path[0])
      const event = fieldOf(call, "preview_event")
      const choice = bodyIn(call) ?? STANDARD_BODY
      const result = yield* addresses.preview(id, {
        body: choice,
        ...(event === "" ? {} : { eventId: idOf(event) }),
      })
      return yield* card(call.frame, id, { is: "preview", result, body: { ...STANDARD_BODY, ...choice } })
    }),
  }),
]
