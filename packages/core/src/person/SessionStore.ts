/** Stores sessions by the fingerprint of their secret, and finds those that may act. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { LiveSession, Session, SignInMethod } from "./Person.ts"

export interface NewSession {
  readonly fingerprint: Uint8Array
  readonly method: SignInMethod
  readonly client: string | null
  readonly userAgent: string | null
  /** The rate's subject of the client. */
  readonly knownFrom: string | null
}

export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Uses a link up and begins its session, both or neither; none if it was used or has expired. */
    readonly claim: (
      link: Uint8Array,
      session: NewSession,
    ) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    readonly begin: (
      personId: number,
      session: NewSession,
    ) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /**
     * A session that is not ended, idle or too old, of a person who is not removed. Its use is noted, at most once a
     * minute.
     */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Like `find`, without noting a use. */
    readonly peek: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Live ones, newest first; null: all people's. */
    readonly list: (personId: number | null) => Effect.Effect<ReadonlyArray<Session>, StoreUnavailable>
    /** Null: any person's. */
    readonly end: (id: number, ofPerson: number | null) => Effect.Effect<boolean, StoreUnavailable>
    /** Ends all of a person but one; returns how many. */
    readonly endAll: (personId: number, butId: number | null) => Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/person/SessionStore") {}
