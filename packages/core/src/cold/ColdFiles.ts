/**
 * The files of cold history: events that have moved out of the database, a range of the feed in each. A file appears whole
 * or not at all, and never changes. Adapters know the kinds of places, and the format.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { Context, type Effect, Schema, type Scope } from "effect"
import type { Channel, SpamReason } from "../event/EventLog.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"

/** An event as its row is stored. Times are in microseconds since 2000. */
export interface ColdEvent extends Required<FeedPlace> {
  readonly sourceId: number
  readonly channel: Channel
  readonly history: boolean
  readonly empty: boolean
  readonly repeatOf: number | null
  readonly originalRequestId: number | null
  readonly deletedAt: bigint | null
  readonly purgedAt: bigint | null
  readonly verified: boolean | null
  readonly spam: SpamReason | null
  /** JSON text, as it was stored. */
  readonly payload: string
  /** The hash of the row in the database, by which a row that has changed is recognized. */
  readonly hash: bigint
}

/** A part of a file that is read as a whole. */
export interface ColdGroup {
  readonly events: number
  readonly first: FeedPlace
  readonly last: FeedPlace
  /** The lowest and the highest id. */
  readonly ids: readonly [number, number]
  /** The earliest and the latest time of receipt. */
  readonly times: readonly [bigint, bigint]
  /** Its sources; null if there are too many to list. */
  readonly sources: ReadonlyArray<number> | null
}

/** Why files cannot be read or written, in words for the operator. */
export class ColdFailure extends Schema.TaggedError<ColdFailure>()("ColdFailure", {
  message: Schema.String,
  /** True if the file does not exist. */
  missing: Schema.optionalKey(Schema.Boolean),
}) {}

type Returns<A, R = never> = Effect.Effect<A, ColdFailure, R>

/** A file that is being written. It does not exist before `finish`, and never if the scope ends before. */
export interface ColdWriter {
  readonly add: (events: ReadonlyArray<ColdEvent>) => Returns<void>
  /** Resolves when the file is there to stay. Returns its size in bytes. */
  readonly finish: Returns<number>
}

/** A file. */
export interface ColdFile {
  readonly bytes: number
  readonly groups: ReadonlyArray<ColdGroup>
  /** The events of a group, by its index, in the order of the feed. */
  readonly read: (group: number) => Returns<ReadonlyArray<ColdEvent>>
}

export class ColdFiles extends Context.Service<
  ColdFiles,
  {
    /** Where they are, as shown to people; null if this process has no place for them. */
    readonly location: string | null
    readonly create: (name: string) => Returns<ColdWriter, Scope.Scope>
    readonly open: (name: string) => Returns<ColdFile>
    /** Names of files that begin so. */
    readonly names: (prefix: string) => Returns<ReadonlyArray<string>>
    /** A file that does not exist is removed already. */
    readonly remove: (name: string) => Returns<void>
  }
>()("@data-cabinet/core/cold/ColdFiles") {}
