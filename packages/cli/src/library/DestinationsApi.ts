/** The destinations of a cabinet, with promises. */
import type { Destination, NewDestination } from "@data-cabinet/core/destination/Destination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import type { Run } from "./RunEffect.ts"

export type { Destination }

/** A destination to be created; by default NDJSON files of all events. */
export type NewDestinationOptions = Pick<NewDestination, "location"> & Partial<NewDestination>

/** Places that get the events of the feed as files. A call about an unknown one rejects with `no_such_destination`. */
export interface DestinationsApi {
  /** Writes events into a directory below `destinationRoot` from now on. Rejects with `bad_location` without that option. */
  readonly create: (destination: NewDestinationOptions) => Promise<Destination>
  /** All destinations, by id, with how far each has come. */
  readonly list: () => Promise<ReadonlyArray<Destination>>
  /** Keeps the position, and writes nothing until it is resumed. */
  readonly pause: (id: number) => Promise<Destination>
  /** Continues at once, where it was. */
  readonly resume: (id: number) => Promise<Destination>
  /** Forgets the destination. Its files stay. */
  readonly remove: (id: number) => Promise<void>
}

/** Builds the methods of `cabinet.destinations`. */
export const destinationsApi = (run: Run): DestinationsApi => ({
  create: (destination) =>
    run(Destinations.use(({ add }) => add({ format: "ndjson", sources: null, from: "beginning", ...destination }))),
  list: () => run(Destinations.use(({ list }) => list)),
  pause: (id) => run(Destinations.use(({ pause }) => pause(id))),
  resume: (id) => run(Destinations.use(({ resume }) => resume(id))),
  remove: (id) => run(Destinations.use(({ remove }) => remove(id))),
})
