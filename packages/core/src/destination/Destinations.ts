/** The operations of a cabinet's owner on destinations. */
import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, Option } from "effect"
import { AddressCheck } from "../delivery/AddressCheck.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { FEED_START } from "../feed/FeedStore.ts"
import { FeedTailStore } from "../feed/FeedTailStore.ts"
import { FollowerStore } from "../follower/FollowerStore.ts"
import { checkChange, checkPlace } from "./CheckDestination.ts"
import {
  type Destination,
  DestinationAdapters,
  type DestinationChange,
  MAX_DESTINATIONS,
  type NewDestination,
  type StoredDestination,
} from "./Destination.ts"
import { type DestinationError, refuse } from "./DestinationError.ts"
import { type AddObstacle, DestinationStore } from "./DestinationStore.ts"
import { isNats } from "./NatsSettings.ts"

const obstacleIs = (obstacle: AddObstacle, { location, sources }: NewDestination) => {
  if (obstacle === "exists") {
    return refuse("destination_exists", `There is a destination ${location}. Two cannot share a place.`)
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
    /** How its bucket or stream is reached. It is due at once. */
    readonly change: (id: number, change: DestinationChange) => Returns<Destination>
    /**
     * Sends all events again, from the first. Its place must have no files or messages, because they would have the same events; the new
     * ones have another tag.
     */
    readonly restart: (id: number) => Returns<Destination>
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
      const address = yield* AddressCheck
      const newTag = Effect.sync(() => randomBytes(4).toString("hex"))

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
          const { from, ...given } = destination
          const settings = yield* checkPlace(address, given, adapters.directoryObstacle)
          const tag = yield* newTag
          const start = from === "now" ? yield* tail.end : FEED_START
          const added = yield* store.add({ ...given, ...settings, tag }, start)
          return yield* typeof added === "string" ? obstacleIs(added, destination) : get(added.id)
        }),
        list,
        get,
        change: Effect.fnUntraced(function* (id, given) {
          // New credentials are for the endpoint beside them: two changes at once must not mix.
          for (;;) {
            const was = yield* get(id)
            const settings = yield* checkChange(address, was, given)
            const changed = { ...settings, credentials: given.credentials ?? null }
            if (yield* store.change(id, was, changed)) return yield* get(id)
          }
        }),
        restart: Effect.fnUntraced(function* (id) {
          const place = yield* store.place(id)
          if (Option.isNone(place)) return yield* noSuch(id)
          const found = yield* adapters.open(place.value).pipe(
            Effect.flatMap((opened) => opened.position(FEED_START)),
            Effect.scoped,
            Effect.catch(({ message }) => refuse("destination_failed", message)),
          )
          if (found !== null) {
            const { location } = place.value
            const [things, act] = isNats(location) ? ["messages", "Purge the stream"] : ["files", "Move them elsewhere"]
            const message = `${location} has ${things} of this destination, up to event ${found.id}. ${act} first: all events are written again.`
            return yield* refuse("destination_filled", message)
          }
          return yield* change(id, store.restart(id, yield* newTag))
        }),
        pause: (id) => change(id, store.pause(id)),
        resume: (id) => change(id, store.resume(id)),
        remove: (id) => Effect.flatMap(store.remove(id), (existed) => (existed ? Effect.void : noSuch(id))),
      })
    }),
  )
}
