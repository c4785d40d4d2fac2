/**
 * Where imports are staged and how far each has come. A process holds an import by a lease, which ends by itself when
 * the process does; whoever takes it up goes on where the count stands.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"

/** An import as its owner sees it. Times are RFC 3339 in UTC. */
export interface ImportStatus {
  readonly id: number
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly name: string
  readonly state: "staging" | "accepting" | "done" | "failed"
  readonly bytes: number
  readonly staged: number
  readonly accepted: number
  readonly refused: number
  readonly failure: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
}

export interface NewImport {
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly history: boolean
  readonly name: string
  readonly sha256: Uint8Array | null
  readonly bytes: number
  /** Refuse it where the same bytes were imported into the source before, or are being imported. */
  readonly once: boolean
  readonly pollId: number | null
}

/** An import that this process holds. */
export interface HeldImport {
  readonly id: number
  readonly lease: string
}

/** One that may be accepted now, and where its count stands. */
export interface ClaimedImport extends HeldImport {
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly history: boolean
  readonly staged: number
  readonly accepted: number
}

export interface StagedRow {
  /** From 0, without gaps. */
  readonly n: number
  readonly empty: boolean
  readonly key: Uint8Array | null
  /** JSON text of the payload. */
  readonly payload: string
}

/** Another process holds it now, or it has come to an end. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", { importId: Schema.Int }) {}

type Held<A> = Effect.Effect<A, LeaseLost | StoreUnavailable>

export class StagedImports extends Context.Service<
  StagedImports,
  {
    /** The import, held; or the earlier one of the same file. */
    readonly begin: (
      wanted: NewImport,
    ) => Effect.Effect<{ readonly held: HeldImport } | { readonly same: ImportStatus }, StoreUnavailable>
    /** The import of the same bytes into the source that is done or under way. */
    readonly same: (
      sourceId: number,
      sha256: Uint8Array,
    ) => Effect.Effect<Option.Option<ImportStatus>, StoreUnavailable>
    readonly stage: (held: HeldImport, rows: ReadonlyArray<StagedRow>) => Held<void>
    /** All is staged: from here on it is accepted, whatever becomes of this process. */
    readonly seal: (held: HeldImport, counts: { readonly staged: number; readonly refused: number }) => Held<void>
    /** Nothing more of it is accepted, and what is staged is forgotten; a poll will take it for new again. */
    readonly fail: (held: HeldImport, failure: string) => Held<void>
    /**
     * Takes up an import that nobody holds: the next, or this one. Imports of one source are accepted in the order of their
     * numbers, so none is given before an earlier one of its source is done, and for this one the earlier one is given.
     */
    readonly claim: (id: number | null) => Effect.Effect<Option.Option<ClaimedImport>, StoreUnavailable>
    /** Rows from `first` on: at most `rows` of them, and not past some megabyte. */
    readonly slice: (
      held: HeldImport,
      first: number,
      rows: number,
    ) => Effect.Effect<ReadonlyArray<StagedRow>, StoreUnavailable>
    /** Holds it on, and tells where its count stands. */
    readonly renew: (held: HeldImport) => Held<number>
    /** Gives it back, with the reason why it waits; it can be claimed again after some seconds. */
    readonly release: (held: HeldImport, why: string | null) => Held<void>
    /** Every row is accepted: the staged rows go. */
    readonly finish: (held: HeldImport) => Held<void>
    readonly status: (id: number) => Effect.Effect<Option.Option<ImportStatus>, StoreUnavailable>
    /** Newest first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<ImportStatus>, StoreUnavailable>
    /** Fails what was being staged by a process that is gone, and forgets staged rows of ended imports. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/file/StagedImports") {}
