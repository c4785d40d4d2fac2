/** Stores people and their one-time links, by fingerprint only. `People` decides what to refuse. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { PersonRole } from "../key/Role.ts"
import type { Issuer, NewPerson, Person, PersonChange } from "./Person.ts"

/** The stored hash that a password is compared with. */
export interface PasswordHolder {
  readonly person: Person
  readonly password: string | null
  /** From where the last sign-in was, as a rate's subject. */
  readonly knownFrom: string | null
}

/** A person as identified by a proxy, the embedding program or an identity provider. */
export interface ExternalIdentity {
  readonly issuer: Issuer
  readonly subject: string
  readonly name: string
  readonly role: PersonRole
  /** Whether name and role follow the provider's current values, or stay as first created. */
  readonly follow: boolean
}

/** `last_owner`: no owner would be left. */
export type Changed = Person | "missing" | "name_taken" | "last_owner"

export class PersonStore extends Context.Service<
  PersonStore,
  {
    readonly add: (person: NewPerson) => Effect.Effect<Person | "name_taken", StoreUnavailable>
    readonly list: Effect.Effect<ReadonlyArray<Person>, StoreUnavailable>
    readonly find: (id: number) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** A person who signs in here, by name, ignoring case. */
    readonly byName: (name: string) => Effect.Effect<Option.Option<PasswordHolder>, StoreUnavailable>
    /** A removed one of an issuer is let in again by a role. */
    readonly change: (id: number, change: PersonChange) => Effect.Effect<Changed, StoreUnavailable>
    /** Also ends the sessions and the link. */
    readonly remove: (id: number) => Effect.Effect<Changed, StoreUnavailable>
    readonly setPassword: (id: number, password: string | null) => Effect.Effect<boolean, StoreUnavailable>
    /** Replaces an earlier link. Returns when it expires; none if the person does not exist. */
    readonly setLink: (
      id: number,
      fingerprint: Uint8Array,
      seconds: number,
    ) => Effect.Effect<Option.Option<string>, StoreUnavailable>
    readonly byLink: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** Includes removed people; none at first sight. */
    readonly findExternal: (
      identity: Pick<ExternalIdentity, "issuer" | "subject">,
    ) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** Creates them, or has name and role follow. A removed one stays removed. */
    readonly saveExternal: (identity: ExternalIdentity) => Effect.Effect<Person, StoreUnavailable>
  }
>()("@data-cabinet/core/person/PersonStore") {}
