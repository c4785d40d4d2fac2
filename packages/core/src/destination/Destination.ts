/**
 * A destination: a place outside the cabinet to which events are written in the order of the feed. Adapters know the kinds of
 * places. The core relies on two properties: a slice of the feed appears whole or not at all, and writing it again changes
 * nothing. In a stream, the beginning of a slice may appear, and its position is then within the slice.
 *
 * Decision: docs/decisions/0099-destinations-get-slices-with-planned-ends.md
 */
import { Context, type Effect, Schema, type Scope } from "effect"
import type { FeedPlace } from "../feed/FeedStore.ts"
import { type FollowerState, MOST_BEHIND } from "../follower/FollowerStore.ts"
import * as Shape from "../json/Shape.ts"
import type { Items } from "../pagination/Items.ts"
import type { DestinationCredentials } from "./DestinationCredentials.ts"
import { S3_SETTINGS, type S3Settings } from "./S3Settings.ts"

/** All formats. */
export const DESTINATION_FORMATS = ["ndjson", "parquet"] as const
/** The format of a destination's files. */
export type DestinationFormat = (typeof DESTINATION_FORMATS)[number]

/** Where a new destination begins. */
export const DESTINATION_STARTS = ["beginning", "now"] as const
/** One of `DESTINATION_STARTS`. */
export type DestinationStart = (typeof DESTINATION_STARTS)[number]

/** The most destinations of a cabinet: each reads the feed separately. */
export const MAX_DESTINATIONS = 20

/** The kind of followers that serve destinations. */
export const DESTINATION = "destination"

/** A destination to be created. */
export interface NewDestination extends S3Settings {
  /** A directory, relative to the root that the server's operator has set; `s3://BUCKET/PREFIX`; or `nats://STREAM/SUBJECT`. */
  readonly location: string
  readonly format: DestinationFormat
  /** Ids of the sources whose events it gets; null for all, including those created later. */
  readonly sources: ReadonlyArray<number> | null
  readonly from: DestinationStart
  /** Null for a directory, and for a broker that needs none. */
  readonly credentials: DestinationCredentials | null
}

/** What a new destination has if nothing else is given. */
export const DESTINATION_DEFAULTS = {
  format: "ndjson",
  sources: null,
  from: "beginning",
  ...S3_SETTINGS.defaults,
  credentials: null,
} as const satisfies Omit<NewDestination, "location">

/** What can be changed of a destination in a bucket or a stream. */
export interface DestinationChange extends Partial<S3Settings> {
  /** Instead of the current ones. */
  readonly credentials?: DestinationCredentials
}

/** A destination as it is stored. */
export interface StoredDestination extends Omit<NewDestination, "from" | "credentials"> {
  readonly id: number
  /** Of the follower that serves it. */
  readonly followerId: number
  /** Part of the names of its files, which distinguishes them from another destination's. */
  readonly tag: string
  /** RFC 3339. */
  readonly createdAt: string
  readonly paused: boolean
  readonly hasCredentials: boolean
}

type Progress = "eventId" | "movedAt" | "behind" | "behindSeconds" | "failures" | "error" | "retryAt"

/** A destination with how far it has come. */
export interface Destination extends Omit<StoredDestination, "followerId">, Pick<FollowerState, Progress> {}

/** The destination's JSON and its description. */
export const destinationShape = Shape.named(
  "Destination",
  Shape.object<Destination>("A place that gets the events of the feed, as files or as messages of a stream.", {
    id: Shape.id("Its id."),
    location: Shape.text(
      "A directory below the root that the server's operator has set, `s3://BUCKET/PREFIX`, or `nats://STREAM/SUBJECT`.",
    ),
    ...S3_SETTINGS.shapes,
    hasCredentials: Shape.flag("Whether it has credentials, which are never shown."),
    format: Shape.oneOf(
      DESTINATION_FORMATS,
      "The format of its files; `ndjson` for a stream, whose messages are such lines.",
    ),
    sources: Shape.orNull(Shape.list(Shape.id("A source's id.")), "The sources whose events it gets; null for all."),
    tag: Shape.text("The beginning of the names of its files, and of the ids of its messages."),
    createdAt: Shape.time("When it was added."),
    paused: Shape.flag("Whether it is paused."),
    eventId: Shape.orNull(Shape.id("The last event that is there; null before the first.", 10_417)),
    movedAt: Shape.orNull(Shape.time("When it last got events; null before the first.")),
    behind: Shape.whole(`Events of the feed after that one, counted up to ${MOST_BEHIND}.`),
    behindSeconds: Shape.leaf<number>({
      type: "number",
      minimum: 0,
      description: "For how many seconds the first of them has waited; 0 without one.",
    }),
    failures: Shape.whole("Failures in a row."),
    error: Shape.orNull(Shape.text("The last error; null without one.")),
    retryAt: Shape.orNull(Shape.time("When it is tried again after a failure; null without one.")),
  }),
)

/** A part of the feed that a destination gets as a whole. */
export interface FeedSlice {
  /** It begins after this place. */
  readonly from: FeedPlace
  /** The place of its last event. */
  readonly to: FeedPlace
  /** Its events in order, each as the feed has it. */
  readonly events: ReadonlyArray<Items>
  /** The place of an event, which is counted from 0 in each of `events`. */
  readonly placeOf: (page: number, index: number) => FeedPlace
  /** Checked immediately before the slice appears: false once another process may be at work on the destination. */
  readonly mayAppear: () => boolean
}

/** Why a slice could not be written, in words for the operator. */
export class DestinationFailure extends Schema.TaggedError<DestinationFailure>()("DestinationFailure", {
  message: Schema.String,
}) {}

/** An opened destination. */
export interface OpenDestination {
  /** The place of the last event that is there; null if it has none after the known place. */
  readonly position: (known: FeedPlace) => Effect.Effect<FeedPlace | null, DestinationFailure>
  /** Resolves when the slice is there to stay. A slice that is written again replaces itself. */
  readonly write: (slice: FeedSlice) => Effect.Effect<void, DestinationFailure>
  /** Of a stream, which takes few events as well as many: the most events of a slice. It is written to without a long rest. */
  readonly mostEvents?: number
}

/** The credentials of a destination; `unreadable` without the key that they are encrypted with. */
export type HeldCredentials = DestinationCredentials | "unreadable" | null

/** The parts of a destination that an adapter needs. */
export interface DestinationPlace extends S3Settings, Pick<StoredDestination, "location" | "format" | "tag"> {
  readonly credentials: HeldCredentials
}

/** The adapters of this process. */
export class DestinationAdapters extends Context.Service<
  DestinationAdapters,
  {
    /** Why this process cannot write to directories; null if it can. */
    readonly directoryObstacle: string | null
    /** It is closed with the scope. */
    readonly open: (place: DestinationPlace) => Effect.Effect<OpenDestination, DestinationFailure, Scope.Scope>
  }
>()("@data-cabinet/core/destination/DestinationAdapters") {}
