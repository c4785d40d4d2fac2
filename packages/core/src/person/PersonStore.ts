/** Stores people and their one-time links, by fingerprint only. `People` decides what to refuse. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { PersonRole } from "../key/Role.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import type { Issuer, NewPerson, Person, PersonChange } from "./Person.ts"

/** A person's stored hash, with which a password is compared. */
export interface PasswordHolder {
  readonly person: Person
  readonly password: string | null
  /** The address of the last sign-in, as a rate's subject. */
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
    /** By id, including removed people of an issuer. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<Person>, StoreUnavailable>
    readonly find: (id: number) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** A person who signs in here, by name, ignoring case. */
    readonly byName: (name: string) => Effect.Effect<Option.Option<PasswordHolder>, StoreUnavailable>
    /** Changes name and role. Setting a role admits a removed person of an issuer again. */
    readonly change: (id: number, change: PersonChange) => Effect.Effect<Changed, StoreUnavailable>
    /** Also ends the sessions and the link. */
    readonly remove: (id: number) => Effect.Effect<Changed, StoreUnavailable>
    readonly setPassword: (id: number, password: string | null) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Replaces an earlier link. Returns when it expires; none if the person does not exist. `isSelfIssued`: whether the
     * person issues it.
     */
    readonly setLink: (
      id: number,
      fingerprint: Uint8Array,
      seconds: number,
      isSelfIssued: boolean,
    ) => Effect.Effect<Option.Option<string>, StoreUnavailable>
    readonly byLink: (fingerprint: Uint8Array) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** Finds a person of an issuer, including removed ones; none if never seen. */
    readonly findExternal: (
      identity: Pick<ExternalIdentity, "issuer" | "subject">,
    ) => Effect.Effect<Option.Option<Person>, StoreUnavailable>
    /** Creates the person, or updates name and role. A removed person stays removed. */
    readonly saveExternal: (identity: ExternalIdentity) => Effect.Effect<Person, StoreUnavailable>
  }
>()("@data-cabinet/core/person/PersonStore") {}
