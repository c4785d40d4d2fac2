/** `cabinet delivery …`: deliveries of all addresses, and one by its number. */
import { deliveryShape, deliveryWithLogShape, PHASES, type Timing } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import type { DeliveryFilter } from "@data-cabinet/core/delivery/DeliveryQueue"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { card, columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { format, idArgument, withCabinet } from "./Root.ts"
import { filterFlags, filterOf, list } from "./DeliveryListCommand.ts"
import { CommandError } from "../error/CommandError.ts"
import { confirmed, confirmedByPerson, yes } from "./Confirm.ts"
import { EXAMPLES } from "./Examples.ts"

const id = idArgument("ID", "The delivery's number")

const PHASE_WORDS: Readonly<Record<keyof Timing, string>> = {
  nameMs: "name",
  connectMs: "connect",
  tlsMs: "TLS",
  waitMs: "wait",
  bodyMs: "body",
}

const timingText = (timing: Timing): string =>
  PHASES.flatMap((phase) => (timing[phase] === null ? [] : [`${PHASE_WORDS[phase]} ${timing[phase]}`])).join(", ") ||
  "—"

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
            ...(delivery.lastAttempt === null || delivery.lastAttempt.reason === null
              ? []
              : [["Why", delivery.lastAttempt.reason] as const]),
          ],
          style,
        )
        const log = columns(
          ["AT", "ATTEMPT", "MS", "OF WHICH", "CONNECTED TO", "OUTCOME", "RESPONSE"],
          attempts.map((one) => [
            one.at,
            String(one.number),
            String(one.durationMs),
            one.timing === null ? "—" : timingText(one.timing),
            one.peer ?? "—",
            one.reason ?? `delivered (${one.status})`,
            one.responseBody ?? "",
          ]),
          { style, none: "No attempts yet." },
        )
        return `${head}\n\n${log}`
      })
    }),
  ),
).pipe(Command.withDescription("Show a delivery and its attempts"))

const all = {
  where: Flag.Boolean("where").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Instead of one: all deliveries that the filters find, as in cabinet delivery list"),
    Flag.withDefault(false),
  ),
  ...filterFlags,
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withoutNegation,
    Flag.withDescription("With --where: only count what would be sent"),
    Flag.withDefault(false),
  ),
  yes,
}

const resend = Command.make("resend", { id: Argument.optional(id), ...all }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const one = Option.getOrNull(input.id)
      if ((one === null) !== input.where) {
        return yield* new CommandError({
          code: "refused",
          message: "Name either one delivery by its number, or with --where all that the filters find.",
        })
      }
      if (one === null) return yield* resendListed(yield* filterOf(input), input)
      const delivery = yield* Deliveries.use((deliveries) => deliveries.resend(one))
      yield* report(yield* format, deliveryShape.json(delivery), () => `Delivery ${delivery.id} is pending again.`)
    }),
  ),
).pipe(Command.withDescription("Resend a delivery, or all that filters find"))

/** A forgotten filter would send everything again, so a script has to say that it means it. */
const resendListed = Effect.fnUntraced(function* (filter: DeliveryFilter, given: { dryRun: boolean; yes: boolean }) {
  const { countListed, resendListed: resendAll } = yield* Deliveries
  if (given.dryRun) {
    const found = yield* countListed(filter)
    const words = `${counted(found, "delivery", "deliveries")} would be sent again.`
    return yield* report(yield* format, { would_resend: found }, () => words)
  }
  if (!given.yes) {
    const found = counted(yield* countListed(filter), "delivery", "deliveries")
    const isFiltered = Object.values(filter).some((value) => value !== null && value !== false)
    yield* isFiltered
      ? confirmedByPerson(false, `Send ${found} again?`)
      : confirmed(false, `No filter is given: send every delivery again (${found})?`)
  }
  const count = yield* resendAll(filter)
  const words = `${counted(count, "delivery is", "deliveries are")} pending again.`
  yield* report(yield* format, { resent: count }, () => words)
})

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
