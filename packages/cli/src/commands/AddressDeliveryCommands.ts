/** The commands of `cabinet address` that inspect deliveries and control them. */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { isMoment, noMoment } from "@data-cabinet/core/text/Moment"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { counted } from "../output/Counted.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { attemptJson, pingJson } from "@data-cabinet/core/delivery/DeliveryJson"
import { addressArgument, addressNamed } from "./Named.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"

const outgoing = settingFlags("allowedNetworks")

export const ping = Command.make("ping", { id: addressArgument, ...outgoing }, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const result = yield* Effect.flatMap(addressNamed(input.id), (id) =>
        Addresses.use((addresses) => addresses.ping(id)),
      )
      const value = pingJson(result)
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
    id: addressArgument,
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
        if (before !== undefined && !isMoment(before)) {
          return yield* new CommandError({ code: "usage", message: noMoment(before) })
        }
        const { id: addressId } = yield* Effect.flatMap(addressNamed(input.id), (id) =>
          Addresses.use((addresses) => addresses.get(id)),
        )
        const attempts = yield* Deliveries.use((deliveries) =>
          deliveries.log({
            addressId,
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

const required = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TIME"), Flag.withDescription(about))

export const resend = Command.make(
  "resend",
  {
    id: addressArgument,
    from: required("from", "Everything accepted from this moment on, such as 2026-11-21T09:30:00Z"),
    to: required("to", "and before this one"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { from, to } = input
        const addressId = yield* addressNamed(input.id)
        const count = yield* Deliveries.use((deliveries) => deliveries.resendRange(addressId, from, to))
        yield* report(
          yield* format,
          { address_id: addressId, from, to, resent: count },
          () => `${counted(count, "delivery is", "deliveries are")} due again.`,
        )
      }),
    ),
).pipe(Command.withDescription("Send all of an address in a span of time again; one: cabinet delivery resend ID"))
