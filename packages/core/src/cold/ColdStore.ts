/**
 * Cold history in the database: the list of files, and the rows that are to move or have stayed. Each method is a transaction of
 * its own, and none relies on its caller being the only one.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedPlace } from "../feed/FeedStore.ts"
import type { ColdEvent } from "./ColdFiles.ts"
import type { ColdRange } from "./ColdRange.ts"

/** A file as it is listed. Times are RFC 3339. */
export interface ListedFile extends ColdRange {
  readonly id: number
  /** Null: its events were brought back for good. */
  readonly name: string | null
  readonly events: number
  readonly bytes: number
  readonly digest: string
  readonly from: string
  readonly to: string
  /** Whether its rows may be deleted by now. */
  readonly settled: boolean
  /** Whether its rows were deleted, but for those that had to stay. */
  readonly emptied: boolean
  /** Whether its events are being brought back, or were. */
  readonly thawed: boolean
  readonly deletions: number
}

/** A file that was written and compared. */
export interface WrittenFile extends ColdRange {
  readonly name: string
  readonly events: number
  readonly bytes: number
  readonly digest: string
  readonly ids: readonly [number, number]
  readonly times: readonly [bigint, bigint]
}

/** A row, by its hash. */
export interface RowHash {
  readonly id: number
  readonly hash: bigint
}

/** Which events are old enough. */
export interface ColdLimits {
  /** Received more than this many hours ago. */
  readonly afterHours: number
  /** How many events a file has. Default: 100,000. */
  readonly fileEvents?: number
  /** How many events a group of a file has. Default: 2,048. */
  readonly groupEvents?: number
}

/** The age in hours from which events move, in a process that knows it. */
export const ColdAfter = Context.Reference<number | null>("@data-cabinet/core/cold/ColdStore/ColdAfter", {
  defaultValue: () => null,
})

/** The next events below the border. */
export interface ColdSlice {
  readonly events: ReadonlyArray<ColdEvent>
  /** Whether others follow that are old enough. */
  readonly hasMore: boolean
  /** Whether the first is older by a week than it has to be: then it moves even with few others. */
  readonly isLate: boolean
}

type Returns<A> = Effect.Effect<A, StoreUnavailable>

export class ColdStore extends Context.Service<
  ColdStore,
  {
    /** Returns whether this process is to work on files; it is until `release`, or for some minutes. */
    readonly claim: Returns<boolean>
    /** Ends the claim, and keeps the error; null without one. */
    readonly release: (error: string | null) => Returns<void>
    /** Every file, in the order of the feed. */
    readonly files: Returns<ReadonlyArray<ListedFile>>
    /** The next events after a place, or after the border. */
    readonly next: (after: FeedPlace | null, limits: ColdLimits) => Returns<ColdSlice>
    /** Called before a file is written: it is removed if it does not get listed. */
    readonly begin: (name: string) => Returns<void>
    /** Lists a file above the border. Returns false if the border has moved, or if the file took too long. */
    readonly list: (file: WrittenFile, border: FeedPlace | null) => Returns<boolean>
    /**
     * Lists a file in place of another, unless that or its rows have changed. `isNew`: its writing was begun; otherwise it was
     * there before.
     */
    readonly replace: (old: ListedFile, file: WrittenFile, isNew: boolean) => Returns<boolean>
    /** Deletes the rows that equal their copies, and that nothing needs. Returns how many; null once the file may not be emptied. */
    readonly deleteRows: (file: ListedFile, rows: ReadonlyArray<RowHash>) => Returns<number | null>
    /** Notes that the rows of a file are deleted. */
    readonly emptied: (file: ListedFile) => Returns<void>
    /** The rows that a range has. */
    readonly rowsIn: (range: ColdRange) => Returns<ReadonlyArray<RowHash>>
    /** The rows of these events. */
    readonly rowsOf: (ids: ReadonlyArray<number>) => Returns<ReadonlyArray<ColdEvent>>
    /** Notes that the events of a file are being brought back. False if it is listed no longer. */
    readonly beginThaw: (file: ListedFile) => Returns<boolean>
    /** Brings rows back that are not there. False if the file is listed no longer. */
    readonly bringBack: (file: ListedFile, events: ReadonlyArray<ColdEvent>) => Returns<boolean>
    /** Takes a file from the list whose events are all back. */
    readonly endThaw: (file: ListedFile) => Returns<void>
    /** Files that are to be removed. No file of these is listed any more. */
    readonly leftovers: Returns<ReadonlyArray<string>>
    /** Notes that a file was removed. */
    readonly removed: (name: string) => Returns<void>
    readonly status: Returns<ColdProgress>
  }
>()("@data-cabinet/core/cold/ColdStore") {}

/** How the work is going. Times are RFC 3339. */
export interface ColdProgress {
  readonly workedAt: string | null
  readonly failures: number
  readonly error: string | null
}
