/** Stores sessions by the fingerprint of their secret, and finds those that may act. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { LiveSession, Session, SignInMethod } from "./Person.ts"

/** A session to store. */
export interface NewSession {
  readonly fingerprint: Uint8Array
  readonly method: SignInMethod
  readonly client: string | null
  readonly userAgent: string | null
  /** The rate's subject of the client. */
  readonly knownFrom: string | null
}

/** A page of sessions, newest first. */
export interface SessionQuery {
  /** Only those with a lower id; null for the first page. */
  readonly before: number | null
  readonly limit: number
}

export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Uses up a link and begins its session, both or neither; none if it was used or has expired. */
    readonly claim: (
      link: Uint8Array,
      session: NewSession,
    ) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    readonly begin: (
      personId: number,
      session: NewSession,
    ) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /**
     * Finds a valid session (not ended, idle or too old) of a person who is not removed. Records its use, at most once
     * a minute.
     */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Like `find`, but does not record a use. */
    readonly peek: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Lists valid sessions, newest first; null: of all people. */
    readonly list: (
      personId: number | null,
      query: SessionQuery,
    ) => Effect.Effect<ReadonlyArray<Session>, StoreUnavailable>
    /** Ends a session. `ofPerson`: the person it must belong to; null: any. */
    readonly end: (id: number, ofPerson: number | null) => Effect.Effect<boolean, StoreUnavailable>
    /** Ends all sessions of a person except one; returns their number. */
    readonly endAll: (personId: number, butId: number | null) => Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/person/SessionStore") {}
