/** Where polls are kept: what to ask and when, what was seen before, and the log of runs. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { HeldImport } from "../file/StagedImports.ts"
import type { NewPoll, Poll, PollFormat, PollRun } from "./Poll.ts"
import type { PollError } from "./PollError.ts"

/** A poll that this process runs, with what lists never show. */
export interface ClaimedPoll {
  readonly id: number
  readonly lease: string
  readonly sourceId: number
  readonly url: string
  readonly everySeconds: number
  readonly format: PollFormat | null
  readonly pointer: string
  readonly keyField: string | null
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly etag: string | null
  readonly lastModified: string | null
  readonly failures: number
  /** No run was kept yet: what this one finds is history. */
  readonly first: boolean
}

/** How a run ended. */
export interface RunResult {
  readonly outcome: PollRun["outcome"]
  readonly status: number | null
  readonly failure: string | null
  readonly peer: string | null
  readonly durationMs: number
  readonly bytes: number
  readonly items: number
  /** What is new, staged and not yet sealed; null when nothing is. */
  readonly fresh: { readonly held: HeldImport; readonly rows: number } | null
  /** For the next conditional request; kept as they were when the run failed. */
  readonly etag: string | null
  readonly lastModified: string | null
  readonly nextSeconds: number
}

type Answer<A> = Effect.Effect<A, PollError | StoreUnavailable>

export class PollStore extends Context.Service<
  PollStore,
  {
    readonly add: (poll: NewPoll) => Answer<Poll>
    /** By id; removed polls and those of deleted sources are in no answer. */
    readonly list: Effect.Effect<ReadonlyArray<Poll>, StoreUnavailable>
    readonly pause: (id: number) => Answer<Poll>
    /** Due at once. */
    readonly resume: (id: number) => Answer<Poll>
    /** For good: its headers and its marks are forgotten, its log stays for its time. */
    readonly remove: (id: number) => Answer<void>
    /** Newest first. */
    readonly log: (id: number, limit: number) => Answer<ReadonlyArray<PollRun>>
    /** The next poll that is due and that nobody runs; or this one, due or not, paused or not. */
    readonly claim: (id: number | null) => Effect.Effect<Option.Option<ClaimedPoll>, StoreUnavailable>
    /** Holds it on; false when it is another's by now. */
    readonly renew: (poll: ClaimedPoll) => Effect.Effect<boolean, StoreUnavailable>
    /** Which of these keys the poll has not had. */
    readonly unseen: (
      pollId: number,
      keys: ReadonlyArray<Uint8Array>,
    ) => Effect.Effect<ReadonlyArray<boolean>, StoreUnavailable>
    /**
     * Ends the run: log, schedule, marks of what is new and the sealing of its import, all together. None when the poll
     * was removed or is another's by now; then nothing is kept.
     */
    readonly settle: (poll: ClaimedPoll, result: RunResult) => Effect.Effect<Option.Option<PollRun>, StoreUnavailable>
    /** Milliseconds until the next poll is due; null when none is. */
    readonly nextDue: Effect.Effect<number | null, StoreUnavailable>
  }
>()("@data-cabinet/core/poll/PollStore") {}
