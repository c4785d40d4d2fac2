/** What came of telling an address: the commands of `cabinet address` that look at deliveries and move them. */
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { counted } from "../output/Counted.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { attemptJson, deliveryJson } from "@data-cabinet/core/delivery/DeliveryJson"
import { idArgument, format, settingFlags, withCabinet } from "./Root.ts"

const id = idArgument("ID", "The address's number")
const outgoing = settingFlags("allowedNetworks")

export const ping = Command.make("ping", { id, ...outgoing }, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const result = yield* Addresses.use((addresses) => addresses.ping(input.id))
      const value = {
        delivery_id: result.deliveryId,
        delivered: result.delivered,
        status: result.status,
        failure: result.failure,
        peer: result.peer,
        duration_ms: result.durationMs,
        response_body: result.responseBody,
      }
      const json = yield* format
      if (result.delivered || json) {
        yield* report(json, value, (style) => style.green(`Answered ${result.status} within ${result.durationMs} ms.`))
      }
      if (!result.delivered) {
        const message = `The ping was not taken: ${result.failure ?? "no answer"}.`
        return yield* new CommandError({ code: "refused", message })
      }
    }),
  ),
).pipe(Command.withDescription("Send a ping now and say what came of it"))

export const log = Command.make(
  "log",
  {
    id,
    limit: Flag.Int("limit").pipe(Flag.withDescription("At most so many; default: 50"), Flag.withDefault(50)),
    before: Flag.String("before").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("Only attempts before this moment, such as 2026-11-21T09:30:00Z"),
      Flag.optional,
    ),
    failed: Flag.Boolean("failed").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Only failed attempts"),
      Flag.withDefault(false),
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const before = Option.getOrUndefined(input.before)
        if (before !== undefined && Number.isNaN(Date.parse(before))) {
          return yield* new CommandError({
            code: "usage",
            message: `${before} is not a moment such as 2026-11-21T09:30:00Z.`,
          })
        }
        yield* AddressStore.use((book) => book.get(input.id))
        const attempts = yield* DeliveryQueue.use((queue) =>
          queue.log({
            addressId: input.id,
            limit: Math.min(Math.max(1, input.limit), 10_000),
            failedOnly: input.failed,
            ...(before === undefined ? {} : { before }),
          }),
        )
        yield* report(yield* format, attempts.map(attemptJson), (style) =>
          columns(
            ["AT", "DELIVERY", "EVENT", "TRY", "MS", "CONNECTED TO", "OUTCOME", "NEXT TRY", "ANSWER"],
            attempts.map((one) => [
              one.at,
              String(one.deliveryId),
              one.type === "ping" ? "ping" : String(one.eventId ?? ""),
              String(one.number),
              String(one.durationMs),
              one.peer ?? "—",
              one.delivered ? `delivered, answered ${one.status}` : (one.failure ?? `answered ${one.status}`),
              one.nextAt ?? "—",
              one.responseBody ?? "",
            ]),
            { style, none: "No attempts yet." },
          ),
        )
      }),
    ),
).pipe(Command.withDescription("The attempts of an address, newest first"))

const moment = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TIME"), Flag.withDescription(about), Flag.optional)

export const resend = Command.make(
  "resend",
  {
    id: idArgument("ID", "A delivery's number; with --from and --to an address's"),
    from: moment("from", "Everything accepted from this moment on, such as 2026-11-21T09:30:00Z"),
    to: moment("to", "and before this one"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const json = yield* format
        if (Option.isSome(input.from) !== Option.isSome(input.to)) {
          return yield* new CommandError({ code: "usage", message: "--from and --to go together." })
        }
        if (Option.isSome(input.from) && Option.isSome(input.to)) {
          const [from, to] = [input.from.value, input.to.value]
          const count = yield* Addresses.use((addresses) => addresses.resendRange(input.id, from, to))
          return yield* report(
            json,
            { address_id: input.id, from, to, resent: count },
            () => `${counted(count, "delivery is", "deliveries are")} due again.`,
          )
        }
        const delivery = yield* Addresses.use((addresses) => addresses.resend(input.id))
        yield* report(json, deliveryJson(delivery), () => `Delivery ${delivery.id} is due again.`)
      }),
    ),
).pipe(Command.withDescription("Send a delivery again, or all of an address in a span of time"))

export const cancel = Command.make("cancel", { delivery: idArgument("DELIVERY", "The delivery's number") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const delivery = yield* DeliveryQueue.use((queue) => queue.cancel(input.delivery))
      const words =
        delivery.state === "cancelled"
          ? `Delivery ${delivery.id} is cancelled.`
          : `Delivery ${delivery.id} was ${delivery.state} already.`
      yield* report(yield* format, deliveryJson(delivery), () => words)
    }),
  ),
).pipe(Command.withDescription("Give a delivery up"))
