/**
 * Writes the deliveries of sources with many addresses after their events were accepted: a follower that every serving
 * process may run. An accept only stores the events, each with its place among the changes of addresses.
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

/** The pause at the end of the feed; after it, events that another transaction was changing are tried again. */
const REST_MILLIS = 100

/** The follower that writes the deliveries that accepts do not write themselves. */
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
