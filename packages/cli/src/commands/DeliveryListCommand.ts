/** `cabinet delivery list`: the deliveries of all addresses, those with the newest last attempt first. */
import { DELIVERY_OUTCOMES, DELIVERY_STATES, DELIVERY_TYPES, deliveryShape } from "@data-cabinet/core/delivery/Attempt"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { limitFlag } from "./LimitFlag.ts"
import { addressNamed, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"
import { deliveryCursor, deliveryPlace } from "@data-cabinet/core/delivery/DeliveryQueue"
import { sinceOf } from "./Times.ts"

const named = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar(name.toUpperCase()), Flag.withDescription(about), Flag.optional)

const time = (name: string, about: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(`${about} a time such as 2026-11-21T09:30:00Z, or 30m, 12h or 7d ago`),
    Flag.filterMap(
      (text) => Option.fromNullishOr(sinceOf(text)),
      (text) =>
        `--${name} is ${JSON.stringify(text)}: it must be a time such as 2026-11-21T09:30:00Z, or 30m, 12h or 7d`,
    ),
    Flag.optional,
  )

export const filterFlags = {
  address: named("address", "Only deliveries to this address, by number or URL"),
  source: named("source", "Only deliveries of this source's events, by number or name"),
  event: Flag.Int("event").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Only deliveries of this event"),
    Flag.optional,
  ),
  state: Flag.Literals("state", DELIVERY_STATES).pipe(
    Flag.withDescription("Only deliveries in this state"),
    Flag.optional,
  ),
  outcome: Flag.Literals("outcome", DELIVERY_OUTCOMES).pipe(
    Flag.withDescription(
      "Only deliveries whose last attempt had this outcome; refused: a 4xx, error: any other status",
    ),
    Flag.optional,
  ),
  type: Flag.Literals("type", DELIVERY_TYPES).pipe(
    Flag.withDescription("Only deliveries of this type: of an event, or a ping"),
    Flag.optional,
  ),
  retrying: Flag.Boolean("retrying").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Only deliveries that wait for another attempt after a failure"),
    Flag.withDefault(false),
  ),
  since: time("since", "Only deliveries last attempted, or else created, since"),
  until: time("until", "Only deliveries last attempted, or else created, before"),
}

const flags = {
  ...filterFlags,
  before: Flag.String("before").pipe(
    Flag.withMetavar("CURSOR"),
    Flag.withDescription("Continue after the previous page"),
    Flag.filterMap(
      (text) => Option.fromNullishOr(deliveryPlace(text)),
      (text) => `--before is ${JSON.stringify(text)}: it must be the cursor with which a page ended`,
    ),
    Flag.optional,
  ),
  limit: limitFlag("deliveries", MAX_LIMIT, 50),
}

type Input = {
  readonly [Name in keyof typeof filterFlags]: (typeof filterFlags)[Name] extends Flag.Flag<infer A> ? A : never
}

/** The filter of these flags. */
export const filterOf = Effect.fnUntraced(function* (input: Input) {
  const address = Option.getOrNull(input.address)
  const source = Option.getOrNull(input.source)
  return {
    addressId: address === null ? null : yield* addressNamed(address),
    sourceId: source === null ? null : yield* sourceNamed(source),
    eventId: Option.getOrNull(input.event),
    state: Option.getOrNull(input.state),
    outcome: Option.getOrNull(input.outcome),
    type: Option.getOrNull(input.type),
    retrying: input.retrying,
    from: Option.getOrNull(input.since),
    to: Option.getOrNull(input.until),
  }
})

export const list = Command.make("list", flags, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const filter = yield* filterOf(input)
      const page = yield* Deliveries.use((deliveries) =>
        deliveries.list({
          ...filter,
          before: Option.getOrNull(input.before),
          limit: input.limit,
        }),
      )
      const value = {
        data: page.items.map(deliveryShape.json),
        has_more: page.next !== null,
        next_cursor: page.next === null ? null : deliveryCursor(page.next),
        searched_to: page.searchedTo,
      }
      yield* report(yield* format, value, (style) => {
        const lines = page.items.map((one) => [
          String(one.id),
          one.lastAttempt?.at ?? one.createdAt,
          one.type === "ping" ? "ping" : String(one.eventId ?? ""),
          String(one.addressId),
          one.state,
          String(one.attempts),
          one.dueAt ?? "—",
          one.lastAttempt === null ? "—" : (one.lastAttempt.reason ?? `delivered (${one.lastAttempt.status})`),
        ])
        const none =
          page.searchedTo === null
            ? "No deliveries match."
            : `No deliveries match since ${page.searchedTo}; older ones were not searched.`
        const table = columns(["ID", "LAST", "EVENT", "ADDRESS", "STATE", "ATTEMPTS", "DUE", "OUTCOME"], lines, {
          style,
          none,
        })
        return page.next === null ? table : `${table}\n\nMore results: --before ${deliveryCursor(page.next)}`
      })
    }),
  ),
).pipe(Command.withDescription("List deliveries, newest attempt first"))
