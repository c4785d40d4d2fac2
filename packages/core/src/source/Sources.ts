/** The sources of a cabinet: creates, finds, changes, switches off and deletes them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IntakeSource, Source, SourceEncoding, SourceWithSecret } from "./Source.ts"
import type { SourceError } from "./SourceError.ts"

/** A source to be created. */
export interface NewSource {
  /** For people; the table is named after it. */
  readonly name: string
  /** The charset of its forms, whatever they declare; null (the default): detected for each submission. */
  readonly encoding?: SourceEncoding | null
  /** Where a browser is redirected after a plain form; null (the default): our own thank-you page is shown. */
  readonly thanksUrl?: string | null
}

/** The changes to a source; absent fields stay unchanged. */
export interface SourceChange {
  /** The table keeps its name. */
  readonly name?: string
  /** As for a new source. */
  readonly encoding?: SourceEncoding | null
  /** As for a new source. */
  readonly thanksUrl?: string | null
}

/** Stores sources. No result contains deleted sources. */
export class Sources extends Context.Service<
  Sources,
  {
    /** Creates the source, its secret and its table in one step. */
    readonly create: (source: NewSource) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** All sources, including archived ones, by id. */
    readonly list: Effect.Effect<ReadonlyArray<Source>, StoreUnavailable>
    readonly get: (id: number) => Effect.Effect<Option.Option<Source>, StoreUnavailable>
    readonly reveal: (id: number) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    readonly change: (id: number, change: SourceChange) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly archive: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly restore: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    /** Its intake address responds with 404 for good; its events stay in the feed. */
    readonly remove: (id: number, table: "keep" | "drop") => Effect.Effect<void, SourceError | StoreUnavailable>
    /** Creates a new intake address; the old one responds with 404 from then on. */
    readonly rotateSecret: (id: number) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** The active source with this intake secret. */
    readonly bySecret: (secret: string) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
    /**
     * The same from the cache, if it was looked up in this process before. It may be outdated: accept refuses an outdated
     * `version`, and the caller then queries the store.
     */
    readonly remembered: (secret: string) => IntakeSource | undefined
    /** The same for callers that know the id (the library, imports, polling). */
    readonly forIntake: (id: number) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
  }
>()("@data-cabinet/core/source/Sources") {}
