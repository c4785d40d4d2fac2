/** `cabinet delivery …`: deliveries of all addresses, and one by its number. */
import { deliveryShape, deliveryWithLogShape } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { card, columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { format, idArgument, withCabinet } from "./Root.ts"
import { list } from "./DeliveryListCommand.ts"
import { EXAMPLES } from "./Examples.ts"

const id = idArgument("ID", "The delivery's number")

const show = Command.make("show", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const delivery = yield* Deliveries.use((deliveries) => deliveries.find(input.id))
      const attempts = yield* Deliveries.use((deliveries) => deliveries.attemptsOf(input.id))
      yield* report(yield* format, deliveryWithLogShape.json({ ...delivery, log: attempts }), (style) => {
        const head = card(
          [
            ["Delivery", String(delivery.id)],
            ["Event", delivery.eventId === null ? "none: a ping" : String(delivery.eventId)],
            ["Address", String(delivery.addressId)],
            ["State", delivery.state],
            ["Attempts", String(delivery.attempts)],
            ["Created", delivery.createdAt],
            ["Due", delivery.dueAt ?? "—"],
          ],
          style,
        )
        const log = columns(
          ["AT", "ATTEMPT", "MS", "CONNECTED TO", "OUTCOME", "RESPONSE"],
          attempts.map((one) => [
            one.at,
            String(one.number),
            String(one.durationMs),
            one.peer ?? "—",
            one.delivered ? `delivered (${one.status})` : (one.failure ?? `responded with ${one.status}`),
            one.responseBody ?? "",
          ]),
          { style, none: "No attempts yet." },
        )
        return `${head}\n\n${log}`
      })
    }),
  ),
).pipe(Command.withDescription("Show a delivery and its attempts"))

const resend = Command.make("resend", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const delivery = yield* Deliveries.use((deliveries) => deliveries.resend(input.id))
      yield* report(yield* format, deliveryShape.json(delivery), () => `Delivery ${delivery.id} is pending again.`)
    }),
  ),
).pipe(Command.withDescription("Resend a delivery"))

const cancel = Command.make("cancel", { id }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const delivery = yield* Deliveries.use((deliveries) => deliveries.cancel(input.id))
      const words =
        delivery.state === "cancelled"
          ? `Delivery ${delivery.id} is cancelled.`
          : `Delivery ${delivery.id} was ${delivery.state} already.`
      yield* report(yield* format, deliveryShape.json(delivery), () => words)
    }),
  ),
).pipe(Command.withDescription("Cancel a delivery"))

export const deliveryCommand = Command.make("delivery").pipe(
  Command.withExamples(EXAMPLES.delivery),
  Command.withDescription("List deliveries; show, resend or cancel one"),
  Command.withSubcommands([list, show, resend, cancel]),
)
