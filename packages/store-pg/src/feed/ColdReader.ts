/**
 * What the stores need of cold history: events that are in files. Its adapter is `cold/PgColdReader`. Without files, which is usual,
 * it costs nothing but the version that a reader of rows has anyway, or one short statement.
 */
import type { ColdEvent, ColdFailure, ColdGroup } from "@data-cabinet/core/cold/ColdFiles"
import type { ListedFile } from "@data-cabinet/core/cold/ColdStore"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { Context, type Effect } from "effect"
import type { SqlError } from "effect/sql"

/** A listed file, and what is in it. */
export interface ReadableFile extends ListedFile, Pick<ColdGroup, "ids" | "times"> {
  readonly name: string
}

/** The list of files at a time. */
export interface ColdList {
  readonly version: string
  readonly files: ReadonlyArray<ReadableFile>
  /** The last place that is in a file; null without files. */
  readonly border: FeedPlace | null
}

/** Which events to look for. */
export interface ColdWalk {
  readonly after: FeedPlace
  readonly limit: number
  readonly wants: (event: ColdEvent) => boolean
  /** Their sources; null for all. */
  readonly sources: ReadonlyArray<number> | null
}

/** What a walk found. */
export interface ColdFound {
  readonly events: ReadonlyArray<ColdEvent>
  /** The last event that was looked at, if others may follow in files; null once all files were walked. */
  readonly upTo: ColdEvent | null
}

/** An event, and the file that it is in. */
export interface FoundEvent {
  readonly file: ReadableFile
  readonly event: ColdEvent
}

export const NO_FILES: ColdList = { version: "0", files: [], border: null }

export class ColdReader extends Context.Service<
  ColdReader,
  {
    /** The list of this version, or a later one. */
    readonly list: (version: string) => Effect.Effect<ColdList, SqlError.SqlError>
    readonly current: Effect.Effect<ColdList, SqlError.SqlError>
    /** Runs work with the current list; again if it took too long for its list, or if a file has been replaced meanwhile. */
    readonly reading: <A, E, R>(
      work: (list: ColdList) => Effect.Effect<A, E | ColdFailure, R>,
      first?: ColdList,
    ) => Effect.Effect<A, Exclude<E, ColdFailure> | StoreUnavailable | SqlError.SqlError, R>
    readonly walk: (list: ColdList, walk: ColdWalk) => Effect.Effect<ColdFound, ColdFailure>
    /** Events with these ids. */
    readonly find: (list: ColdList, ids: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<FoundEvent>, ColdFailure>
    /** Whether an event is in a file at this very place, received at that time. */
    readonly isThere: (list: ColdList, place: FeedPlace) => Effect.Effect<boolean, ColdFailure>
    /** The events of the groups that meet a condition, from the newest to the oldest if `back`. Ends when `visit` returns false. */
    readonly scan: <E, R>(
      list: ColdList,
      wants: (group: Pick<ColdGroup, "ids" | "times" | "first" | "last">) => boolean,
      visit: (events: ReadonlyArray<ColdEvent>, file: ReadableFile) => Effect.Effect<boolean, E, R>,
      back?: boolean,
    ) => Effect.Effect<void, ColdFailure | E, R>
  }
>()("@data-cabinet/store-pg/feed/ColdReader") {}
