/** The sessions of people: lists them, and ends one, or all of a person at once. */
import { Context, Effect, Layer, type Option } from "effect"
import type { Actor } from "../audit/Actor.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { LiveSession, Session } from "./Person.ts"
import { type PersonError, personError } from "./PersonError.ts"
import { type SessionQuery, SessionStore } from "./SessionStore.ts"

/**
 * The person whose sessions the caller may see and end: null (everyone) for an owner; 0, which no person has, for a
 * program.
 */
export const sessionsOf = ({ role, kind, id }: Pick<Actor, "role" | "kind" | "id">): number | null => {
  if (role === "owner") return null
  return kind === "person" ? id : 0
}

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Finds a valid session by its secret's fingerprint. */
    readonly find: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Like `find`, but does not count as use of the session, which expires regardless. */
    readonly peek: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<LiveSession>, StoreUnavailable>
    /** Lists valid sessions, newest first; null: of all people. */
    readonly list: (
      personId: number | null,
      query: SessionQuery,
    ) => Effect.Effect<ReadonlyArray<Session>, StoreUnavailable>
    /** Ends a session: every process refuses its next request. `ofPerson`: the person it must belong to; null: any. */
    readonly end: (id: number, ofPerson: number | null) => Effect.Effect<void, PersonError | StoreUnavailable>
    /** Signs a person out everywhere; returns the number of sessions ended. */
    readonly endAll: (personId: number) => Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/person/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.map(SessionStore, (store) =>
      Sessions.of({
        find: store.find,
        peek: store.peek,
        list: store.list,
        end: Effect.fnUntraced(function* (id, ofPerson) {
          const ended = yield* store.end(id, ofPerson)
          if (!ended) return yield* personError("no_such_session", `Session ${id} does not exist.`)
        }),
        endAll: (personId) => store.endAll(personId, null),
      }),
    ),
  )
}
