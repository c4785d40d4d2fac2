/**
 * Writes the deliveries of sources with many addresses behind their accepts: a follower that every serving process may
 * serve. What an accept leaves behind are the events, each with its place among the changes of addresses.
 *
 * Decision: docs/decisions/0089-many-deliveries-are-written-behind-the-accept.md
 */
import { Context, Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import type { HeldFollower } from "../follower/FollowerStore.ts"
import { DeliverySignal } from "./DeliverySignal.ts"

/** The kind and the name of the follower. */
export const DELIVERIES = "deliveries"

/** Rows that one transaction writes, so that none takes long. */
export const SLICE_ROWS = 10_000

/** What a slice did. */
export interface FanOutSlice {
  readonly written: number
  /** Whether more can be written now. */
  readonly more: boolean
}

/** Stores the deliveries that the follower writes. */
export class FanOutStore extends Context.Service<
  FanOutStore,
  {
    /** Writes up to `rows` deliveries of the first events in one transaction; null if the lease is lost. */
    readonly write: (held: HeldFollower, rows: number) => Effect.Effect<FanOutSlice | null, StoreUnavailable>
  }
>()("@data-cabinet/core/delivery/FanOutStore") {}

/** The pause at the end: events that another transaction is changing are tried again after it. */
const REST_MILLIS = 100

/** The follower that writes deliveries to the addresses that accepts write none for. */
export const fanOutFollower: FollowerKind<FanOutStore | DeliverySignal> = {
  kind: DELIVERIES,
  task: "delivery fan-out",
  restMillis: REST_MILLIS,
  pollMillis: 1_000,
  turn: (held) =>
    Effect.gen(function* () {
      const slice = yield* FanOutStore.use((store) => store.write(held, SLICE_ROWS))
      if (slice === null) return "lost"
      if (slice.written > 0) yield* DeliverySignal.use(({ wake }) => wake)
      return slice.more ? "more" : "end"
    }),
  listen: DeliverySignal.use(({ fanOut }) => fanOut.listen),
}
