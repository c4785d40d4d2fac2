/**
 * Stores polls: their settings and schedules, the items seen before, and the log of runs. URLs and settings are not checked
 * here: `Polls` has checked them.
 */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import type { HeldImport } from "../file/ImportStore.ts"
import type { NewPoll, Poll, PollRun } from "./Poll.ts"
import type { PollSettings } from "./PollSettings.ts"

/** A poll that this process runs, with the data that lists never show. */
export interface ClaimedPoll extends PollSettings {
  readonly id: number
  readonly lease: string
  readonly sourceId: number
  readonly url: string
  /** Null if the key that encrypts them is unavailable. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]> | null
  readonly etag: string | null
  readonly lastModified: string | null
  readonly failures: number
  /** No run has been saved yet: the items of this one are history. */
  readonly first: boolean
}

/** A new poll with all its settings. */
export type StoredPoll = Required<NewPoll>

/** All settings of a changed poll. */
export interface ChangedPoll extends PollSettings {
  readonly url: string
  /** Null keeps its current headers. */
  readonly headers: StoredPoll["headers"] | null
  /** Whether the items of the next run count as history, as in a first run. */
  readonly first: boolean
}

/** The result of a run. */
export interface RunResult {
  readonly outcome: PollRun["outcome"]
  readonly status: number | null
  readonly failure: string | null
  readonly peer: string | null
  readonly durationMs: number
  readonly bytes: number
  readonly items: number
  readonly doubts: PollRun["doubts"]
  /** The new items, staged and not yet sealed; null without new items. */
  readonly fresh: { readonly held: HeldImport; readonly rows: number } | null
  /** For the next conditional request; unchanged after a failed run. */
  readonly etag: string | null
  readonly lastModified: string | null
  readonly nextSeconds: number
}

/** None if the poll does not exist. */
type Found<A> = Effect.Effect<Option.Option<A>, StoreUnavailable>

export class PollStore extends Context.Service<
  PollStore,
  {
    /** None if the source does not exist. */
    readonly add: (poll: StoredPoll) => Found<Poll>
    /** By id; without removed polls and those of deleted sources. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<Poll>, StoreUnavailable>
    /**
     * Changes a poll, provided that it still has this URL; none if it has another one, or was removed. Makes it due
     * immediately. A run in progress saves nothing.
     */
    readonly change: (id: number, url: string, settings: ChangedPoll) => Found<Poll>
    /**
     * The headers of a poll, provided that it still has this URL; null within if the key that encrypts them is
     * unavailable.
     */
    readonly headers: (id: number, url: string) => Found<ClaimedPoll["headers"]>
    readonly pause: (id: number) => Found<Poll>
    /** Makes the poll due immediately. */
    readonly resume: (id: number) => Found<Poll>
    /** Removes the poll for good. Deletes its headers and marks; the log stays for its retention period. */
    readonly remove: (id: number) => Effect.Effect<{ readonly existed: boolean }, StoreUnavailable>
    /** Newest first. */
    readonly log: (id: number, limit: number) => Found<ReadonlyArray<PollRun>>
    /** Claims the next poll that is due and not running; or the given one, even if it is not due or is paused. */
    readonly claim: (id: number | null) => Effect.Effect<Option.Option<ClaimedPoll>, StoreUnavailable>
    /** Extends the lease; false if another process now holds the poll. */
    readonly renew: (poll: ClaimedPoll) => Effect.Effect<boolean, StoreUnavailable>
    /** Returns those keys that the poll has not received before. */
    readonly unseen: (
      pollId: number,
      keys: ReadonlyArray<Uint8Array>,
    ) => Effect.Effect<ReadonlyArray<boolean>, StoreUnavailable>
    /**
     * Ends the run: log, schedule, marks of the new items and the sealing of its import, in one transaction. None if the
     * poll was removed or another process holds it by now; then nothing is saved.
     */
    readonly settle: (poll: ClaimedPoll, result: RunResult) => Effect.Effect<Option.Option<PollRun>, StoreUnavailable>
    /** Milliseconds until the next poll is due; null without polls. */
    readonly nextDue: Effect.Effect<number | null, StoreUnavailable>
  }
>()("@data-cabinet/core/poll/PollStore") {}
