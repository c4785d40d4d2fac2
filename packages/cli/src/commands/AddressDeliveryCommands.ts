/** The commands of `cabinet address` that inspect deliveries and control them. */
import { addressShape } from "@data-cabinet/core/delivery/Address"
import { attemptShape } from "@data-cabinet/core/delivery/Attempt"
import { pingResultShape, Addresses } from "@data-cabinet/core/delivery/Addresses"
import { filterTestShape, filterInWords, type FilterTest } from "@data-cabinet/core/delivery/TestFilter"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { lookup } from "@data-cabinet/remote/http/RemoteSettings"
import { isTimestamp, notATimestamp } from "@data-cabinet/core/text/Timestamp"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { counted } from "@data-cabinet/core/text/Counted"
import { plainText } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { limitFlag } from "./LimitFlag.ts"
import { addressArgument, addressNamed } from "./Named.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"

const outgoing = settingFlags("allowedNetworks")

export const ping = Command.make("ping", { id: addressArgument, ...outgoing }, (input) =>
  withCabinet(input, () =>
    Effect.gen(function* () {
      const result = yield* Effect.flatMap(addressNamed(input.id), (id) =>
        Addresses.use((addresses) => addresses.ping(id)),
      )
      const value = pingResultShape.json(result)
      const json = yield* format
      if (result.delivered || json) {
        yield* report(json, value, (style) =>
          style.green(`The ping was delivered: ${result.status} in ${result.durationMs} ms.`),
        )
      }
      if (!result.delivered) {
        const message = `The ping failed: ${result.failure ?? "no response"}.`
        return yield* new CommandError({ code: "refused", message })
      }
    }),
  ),
).pipe(Command.withDescription("Send a ping now and print the result"))

export const skip = Command.make(
  "skip",
  {
    id: addressArgument,
    event: Flag.Int("event").pipe(
      Flag.withMetavar("NUMBER"),
      Flag.withDescription("The event at which the address waits"),
    ),
    reason: Flag.String("reason").pipe(Flag.withMetavar("TEXT"), Flag.withDescription("Why, for the log of attempts")),
  },
  ({ id, event: eventId, reason }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const addressId = yield* addressNamed(id)
        const address = yield* Addresses.use((addresses) => addresses.skip(addressId, { eventId, reason }))
        const words = `Event ${eventId} is skipped; address ${addressId} goes on with the next one.`
        yield* report(yield* format, addressShape.json(address), () => words)
      }),
    ),
).pipe(Command.withDescription("Skip the event at which an address with an order waits after a failure"))

const testText = ({ eventId, passes, reasons, conditions, deliveryId }: FilterTest): string =>
  [
    passes ? `Event ${eventId} would be sent to this address.` : `Event ${eventId} would not be sent to this address.`,
    ...reasons.map(({ message }) => message),
    ...conditions
      .filter(({ holds }) => holds)
      .map((one) => `The condition ${filterInWords(one)} holds: it has ${one.value ?? "no such field"}.`),
    deliveryId === null ? "No delivery was created for it." : `It has delivery ${deliveryId}.`,
  ]
    .map(plainText)
    .join("\n")

export const test = Command.make(
  "test",
  {
    id: addressArgument,
    event: Flag.Int("event").pipe(Flag.withMetavar("NUMBER"), Flag.withDescription("The event")),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const id = yield* addressNamed(input.id)
        const result = yield* Addresses.use((addresses) => addresses.test(id, input.event))
        yield* report(yield* format, filterTestShape.json(result), () => testText(result))
      }),
    ),
).pipe(Command.withDescription("Show whether an event would be sent to an address, and if not, why"))

export const log = Command.make(
  "log",
  {
    id: addressArgument,
    limit: limitFlag("attempts", 10_000, 50),
    before: Flag.String("before").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("Only attempts before this time, such as 2026-11-21T09:30:00Z"),
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
        if (before !== undefined && !isTimestamp(before)) {
          return yield* new CommandError({ code: "usage", message: notATimestamp(before) })
        }
        const { id: addressId, filteredEvents } = yield* Effect.flatMap(addressNamed(input.id), (id) =>
          lookup(Addresses.use((addresses) => addresses.get(id))),
        )
        const attempts = yield* Deliveries.use((deliveries) =>
          deliveries.log({
            addressId,
            limit: input.limit,
            failedOnly: input.failed,
            ...(before === undefined ? {} : { before }),
          }),
        )
        yield* report(
          yield* format,
          attempts.map(attemptShape.json),
          (style) =>
            columns(
              ["AT", "DELIVERY", "EVENT", "ATTEMPT", "MS", "CONNECTED TO", "OUTCOME", "NEXT ATTEMPT", "RESPONSE"],
              attempts.map((one) => [
                one.at,
                String(one.deliveryId),
                one.type === "ping" ? "ping" : `${one.eventId ?? ""}${one.events > 1 ? ` (${one.events} events)` : ""}`,
                String(one.number),
                String(one.durationMs),
                one.peer ?? "—",
                one.delivered ? `delivered (${one.status})` : (one.failure ?? `responded with ${one.status}`),
                one.nextAt ?? "—",
                one.responseBody ?? "",
              ]),
              { style, none: "No attempts yet." },
            ) +
            (filteredEvents === 0
              ? ""
              : `\n${counted(filteredEvents, "event was", "events were")} not sent because of the filter.`),
        )
      }),
    ),
).pipe(Command.withDescription("List the attempts of a delivery address, newest first"))

const required = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TIME"), Flag.withDescription(about))

export const resend = Command.make(
  "resend",
  {
    id: addressArgument,
    from: required("from", "Start of the period (inclusive), such as 2026-11-21T09:30:00Z"),
    to: required("to", "End of the period (exclusive)"),
    failed: Flag.Boolean("failed").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Only deliveries that wait for a retry"),
      Flag.withDefault(false),
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Only count what would be sent"),
      Flag.withDefault(false),
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { from, to, dryRun } = input
        const addressId = yield* addressNamed(input.id)
        const range = { addressId, from, to, only: input.failed ? "failed" : "all" } as const
        const count = yield* Deliveries.use((deliveries) =>
          dryRun ? deliveries.countRange(range) : deliveries.resendRange(range),
        )
        const words = dryRun
          ? `${counted(count, "delivery", "deliveries")} would be sent again.`
          : `${counted(count, "delivery is", "deliveries are")} pending again.`
        yield* report(
          yield* format,
          { address_id: addressId, from, to, ...(dryRun ? { would_resend: count } : { resent: count }) },
          () => words,
        )
      }),
    ),
).pipe(
  Command.withDescription(
    "Resend all deliveries of a period to an address; for a single one: cabinet delivery resend ID",
  ),
)
