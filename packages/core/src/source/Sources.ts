/** The sources of a cabinet: made, looked up, changed, switched off and deleted. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IntakeSource, Source, SourceEncoding, SourceWithSecret } from "./Source.ts"
import type { SourceError } from "./SourceError.ts"

/** A source to be made. */
export interface NewSource {
  /** For people; its table is named after it. */
  readonly name: string
  /** The charset of its forms, whatever they say; null, and by default, it is told from each submission. */
  readonly encoding?: SourceEncoding | null
  /** Where a browser is sent after a plain form; null, and by default, it is shown our own thank-you page. */
  readonly thanksUrl?: string | null
}

/** What is to be different; what is left out stays as it is. */
export interface SourceChange {
  /** Its table keeps its name. */
  readonly name?: string
  /** As for a new source. */
  readonly encoding?: SourceEncoding | null
  /** As for a new source. */
  readonly thanksUrl?: string | null
}

/** Where sources are kept. Deleted sources are in no answer. */
export class Sources extends Context.Service<
  Sources,
  {
    /** Makes the source, its secret and its table together. */
    readonly create: (source: NewSource) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** All of them, archived ones too, by id. */
    readonly list: Effect.Effect<ReadonlyArray<Source>, StoreUnavailable>
    readonly get: (id: number) => Effect.Effect<Option.Option<Source>, StoreUnavailable>
    readonly reveal: (id: number) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    readonly change: (id: number, change: SourceChange) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly archive: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    readonly restore: (id: number) => Effect.Effect<Source, SourceError | StoreUnavailable>
    /** Its intake answers 404 for good; its events stay in the feed. */
    readonly remove: (id: number, table: "keep" | "drop") => Effect.Effect<void, SourceError | StoreUnavailable>
    /** A new intake address; the old one answers 404 from then on. */
    readonly rotateSecret: (id: number) => Effect.Effect<SourceWithSecret, SourceError | StoreUnavailable>
    /** The open source behind an intake secret. */
    readonly bySecret: (secret: string) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
    /**
     * The same from memory, if it was looked up here before. It may be outdated: accept refuses an outdated `version`, and
     * the caller then asks the store.
     */
    readonly remembered: (secret: string) => IntakeSource | undefined
    /** The same for callers that already know the id (the library, imports, polling). */
    readonly forIntake: (id: number) => Effect.Effect<Option.Option<IntakeSource>, StoreUnavailable>
  }
>()("@data-cabinet/core/source/Sources") {}
