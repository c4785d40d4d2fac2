/** The destinations of a cabinet, with promises. */
import {
  type Destination,
  DESTINATION_DEFAULTS,
  type DestinationChange,
  type NewDestination,
} from "@data-cabinet/core/destination/Destination"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import type { Run } from "./RunEffect.ts"

export type { Destination, DestinationChange }

/** A destination to be created; by default NDJSON files of all events. */
export type NewDestinationOptions = Pick<NewDestination, "location"> & Partial<NewDestination>

/** Places that get the events of the feed, as files or as messages. A call about an unknown one rejects with `no_such_destination`. */
export interface DestinationsApi {
  /**
   * Writes events into a directory below `destinationRoot`, into a bucket (`s3://BUCKET/PREFIX` with `credentials`), or into a stream
   * (`nats://STREAM/SUBJECT` with the brokers as `endpoint`), from now on.
   * Rejects with `bad_location` for a directory without that option.
   */
  readonly create: (destination: NewDestinationOptions) => Promise<Destination>
  /** All destinations, by id, with how far each has come. */
  readonly list: () => Promise<ReadonlyArray<Destination>>
  /** Changes how a bucket or a stream is reached: its endpoint, its region, its URLs or its credentials. */
  readonly change: (id: number, change: DestinationChange) => Promise<Destination>
  /** Sends all events again. Rejects with `destination_filled` while its place has files or messages. */
  readonly restart: (id: number) => Promise<Destination>
  /** Keeps the position, and writes nothing until it is resumed. */
  readonly pause: (id: number) => Promise<Destination>
  /** Continues at once, where it was. */
  readonly resume: (id: number) => Promise<Destination>
  /** Forgets the destination. Its files and messages stay. */
  readonly remove: (id: number) => Promise<void>
}

/** Builds the methods of `cabinet.destinations`. */
export const destinationsApi = (run: Run): DestinationsApi => ({
  create: (destination) => run(Destinations.use(({ add }) => add({ ...DESTINATION_DEFAULTS, ...destination }))),
  list: () => run(Destinations.use(({ list }) => list)),
  change: (id, change) => run(Destinations.use((all) => all.change(id, change))),
  restart: (id) => run(Destinations.use(({ restart }) => restart(id))),
  pause: (id) => run(Destinations.use(({ pause }) => pause(id))),
  resume: (id) => run(Destinations.use(({ resume }) => resume(id))),
  remove: (id) => run(Destinations.use(({ remove }) => remove(id))),
})
