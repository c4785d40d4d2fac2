/** The operations of a cabinet's owner on destinations. */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { FEED_START } from "../feed/FeedStore.ts"
import { FeedTailStore } from "../feed/FeedTailStore.ts"
import { FollowerStore } from "../follower/FollowerStore.ts"
import {
  type Destination,
  DestinationAdapters,
  MAX_DESTINATIONS,
  type NewDestination,
  type StoredDestination,
} from "./Destination.ts"
import { type AddObstacle, DestinationStore } from "./DestinationStore.ts"

/** Refused operations on destinations. Failures of writing are in the destination itself. */
export class DestinationError extends Schema.TaggedError<DestinationError>()("DestinationError", {
  code: Schema.Literals([
    "no_such_destination",
    "no_such_source",
    "bad_location",
    "destination_exists",
    "too_many_destinations",
  ]),
  message: Schema.String,
}) {}

const refuse = (code: DestinationError["code"], message: string) => Effect.fail(new DestinationError({ code, message }))

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/
const MAX_SEGMENTS = 10

/** What a valid location is. */
export const LOCATION_EXPECTED = `a directory below CABINET_DESTINATION_ROOT, such as events or events/orders: up to ${MAX_SEGMENTS} names of letters of a to z, digits, dots, hyphens and underscores, none of which begins with a dot or a hyphen`

const isLocation = (location: string): boolean => {
  const segments = location.split("/")
  return segments.length <= MAX_SEGMENTS && segments.every((segment) => SEGMENT.test(segment))
}

const obstacleIs = (obstacle: AddObstacle, { location, sources }: NewDestination) => {
  if (obstacle === "exists") {
    return refuse("destination_exists", `There is a destination ${location}. Two cannot share a directory.`)
  }
  if (obstacle === "full") {
    return refuse(
      "too_many_destinations",
      `A cabinet may have ${MAX_DESTINATIONS} destinations, and this one has them.`,
    )
  }
  const named = (sources ?? []).map(String).join(", ")
  return refuse("no_such_source", `Not all of these sources exist: ${named}.`)
}

const noSuch = (id: number) => refuse("no_such_destination", `Destination ${id} does not exist.`)

type Returns<A> = Effect.Effect<A, DestinationError | StoreUnavailable>

export class Destinations extends Context.Service<
  Destinations,
  {
    readonly add: (destination: NewDestination) => Returns<Destination>
    /** By id. */
    readonly list: Effect.Effect<ReadonlyArray<Destination>, StoreUnavailable>
    readonly get: (id: number) => Returns<Destination>
    /** A file that is being written still appears. */
    readonly pause: (id: number) => Returns<Destination>
    /** Continues at once, where it was. */
    readonly resume: (id: number) => Returns<Destination>
    /** Forgets the destination. Its files stay. */
    readonly remove: (id: number) => Returns<void>
  }
>()("@data-cabinet/core/destination/Destinations") {
  static readonly layer = Layer.effect(
    Destinations,
    Effect.gen(function* () {
      const store = yield* DestinationStore
      const followers = yield* FollowerStore
      const tail = yield* FeedTailStore
      const adapters = yield* DestinationAdapters

      const withProgress = Effect.fnUntraced(function* (stored: ReadonlyArray<StoredDestination>) {
        if (stored.length === 0) return []
        const states = new Map((yield* followers.list).map((state) => [state.id, state]))
        return stored.flatMap(({ followerId, ...destination }): ReadonlyArray<Destination> => {
          const state = states.get(followerId)
          // Removed meanwhile.
          if (state === undefined) return []
          const { eventId, movedAt, behind, behindSeconds, failures, error, retryAt } = state
          return [{ ...destination, eventId, movedAt, behind, behindSeconds, failures, error, retryAt }]
        })
      })
      const list = Effect.flatMap(store.list, withProgress)
      const get = Effect.fnUntraced(function* (id: number) {
        const found = (yield* list).find((one) => one.id === id)
        return found ?? (yield* noSuch(id))
      })
      const change = (id: number, changed: Effect.Effect<boolean, StoreUnavailable>) =>
        Effect.flatMap(changed, (existed) => (existed ? get(id) : noSuch(id)))

      return Destinations.of({
        add: Effect.fnUntraced(function* (destination) {
          const { location, format, sources, from } = destination
          if (!isLocation(location)) return yield* refuse("bad_location", `The location must be ${LOCATION_EXPECTED}.`)
          const obstacle = adapters.obstacle(location)
          if (obstacle !== null) return yield* refuse("bad_location", obstacle)
          const tag = yield* Effect.sync(() => randomBytes(4).toString("hex"))
          const start = from === "now" ? yield* tail.end : FEED_START
          const added = yield* store.add({ location, format, sources, tag }, start)
          return yield* typeof added === "string" ? obstacleIs(added, destination) : get(added.id)
        }),
        list,
        get,
        pause: (id) => change(id, store.pause(id)),
        resume: (id) => change(id, store.resume(id)),
        remove: (id) => Effect.flatMap(store.remove(id), (existed) => (existed ? Effect.void : noSuch(id))),
      })
    }),
  )
}
