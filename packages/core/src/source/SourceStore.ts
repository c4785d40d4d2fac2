/**
 * Stores sources, their secrets and their tables. Names, encodings and URLs are not checked here: `Sources` has checked
 * them. No result contains deleted sources.
 */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import type { FormProofChange, StoredFormProof } from "../proof/FormProof.ts"
import type { ChallengeChange, StoredChallenge } from "../verification/Challenge.ts"
import type { ProviderName } from "./Providers.ts"
import type { StoredVerification, VerificationChange } from "../verification/Verification.ts"
import type { IntakeSource, Source, SourceWithSecret } from "./Source.ts"
import type { SourceSettings } from "./SourceSettings.ts"

/** A source to be stored. */
export interface StoredSource extends SourceSettings {
  readonly name: string
  /** With a secret. */
  readonly verify: StoredVerification | null
  readonly challenge: StoredChallenge | null
  readonly proof: StoredFormProof | null
  /** Names the table, given the names that are in use; called while no other source gets a table. */
  readonly tableName: (taken: ReadonlySet<string>) => string
}

/** The changes to a source; absent fields stay unchanged. */
export interface SourceChange extends Partial<SourceSettings> {
  /** The table keeps its name. */
  readonly name?: string
  /** How its sender is verified; null: stop verifying. */
  readonly verify?: VerificationChange | null
  /**
   * A well-known sender. Its headers are added to the kept ones, and its recipe is used with the secret in `verify`.
   */
  readonly from?: ProviderName
  /** The provider whose challenge is answered; null: none. */
  readonly challenge?: ChallengeChange | null
  /** The proof of a person that its form demands; null: none. */
  readonly proof?: FormProofChange | null
}

/** The changes as they are stored. */
export interface StoredSourceChange extends Omit<SourceChange, "verify" | "from" | "challenge" | "proof"> {
  readonly verify?: StoredVerification | null
  readonly challenge?: StoredChallenge | null
  readonly proof?: StoredFormProof | null
}

/** The outcome of removing a source. Unless it is `removed`, nothing was changed. */
export type SourceRemoval =
  | { readonly is: "removed" }
  | { readonly is: "missing" }
  /** Other objects of the database are built on its table. */
  | { readonly is: "depended_on"; readonly table: string }
  /** Its table could not be locked within this many seconds. */
  | { readonly is: "busy"; readonly table: string; readonly seconds: number }

type Found<A> = Effect.Effect<Option.Option<A>, StoreUnavailable>

/** Every method about one source returns none if the source does not exist. */
export class SourceStore extends Context.Service<
  SourceStore,
  {
    /** Creates the source, its secret and its table in one step. */
    readonly create: (source: StoredSource) => Effect.Effect<SourceWithSecret, StoreUnavailable>
    /** Sources by id, including archived ones. */
    readonly page: (query: IdQuery) => Effect.Effect<ReadonlyArray<Source>, StoreUnavailable>
    readonly get: (id: number) => Found<Source>
    readonly reveal: (id: number) => Found<SourceWithSecret>
    readonly change: (id: number, change: StoredSourceChange) => Found<Source>
    readonly archive: (id: number) => Found<Source>
    readonly restore: (id: number) => Found<Source>
    readonly remove: (id: number, table: "keep" | "drop") => Effect.Effect<SourceRemoval, StoreUnavailable>
    readonly rotateSecret: (id: number, keepOldSeconds: number | null) => Found<SourceWithSecret>
    /** The active source with this intake secret. */
    readonly bySecret: (secret: string) => Found<IntakeSource>
    /** The same from the cache, if it was looked up in this process before. It may be outdated. */
    readonly cached: (secret: string) => IntakeSource | undefined
    /** The active source with this id. */
    readonly forIntake: (id: number) => Found<IntakeSource>
  }
>()("@data-cabinet/core/source/SourceStore") {}
