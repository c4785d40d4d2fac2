/** The people of a cabinet: who may sign in, with which role, and by which link or password. */
import { Context, Effect, Layer, Option } from "effect"
import { CurrentActor } from "../audit/Actor.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { managed } from "../audit/Managed.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { PERSON_ROLES } from "../key/Role.ts"
import type { IdQuery } from "../pagination/IdPages.ts"
import { attemptCounts } from "./AttemptCounts.ts"
import { checkPassword, hashPassword, verifyPassword, Passwords } from "./Password.ts"
import type { IssuedLink, LiveSession, NewPerson, Person, PersonChange } from "./Person.ts"
import { type PersonError, personError, type SignInError } from "./PersonError.ts"
import { type Changed, PersonStore, type ExternalIdentity } from "./PersonStore.ts"
import { newSecret, secretFingerprint } from "./Secret.ts"
import { SessionStore } from "./SessionStore.ts"

/** A day for a person who has never signed in, ten minutes for others. */
const INVITATION_SECONDS = 86_400
const LINK_SECONDS = 600
/** How long after a sign-in by link a forgotten password may be replaced without the current one. */
const FRESH_LINK_SECONDS = 900

type Refused = PersonError | StoreUnavailable

export class People extends Context.Service<
  People,
  {
    readonly add: (person: NewPerson) => Effect.Effect<Person, Refused>
    /** By id, including removed people of an issuer. */
    readonly list: (query: IdQuery) => Effect.Effect<ReadonlyArray<Person>, StoreUnavailable>
    readonly get: (id: number) => Effect.Effect<Person, Refused>
    /** Changes name and role. Setting a role admits a removed person of an issuer again. */
    readonly set: (id: number, change: PersonChange) => Effect.Effect<Person, Refused>
    /** Removes a person and ends all their sessions. Refuses to remove the last owner. */
    readonly remove: (id: number) => Effect.Effect<Person, Refused>
    /** Issues a new one-time link, which invalidates the previous one. */
    readonly link: (id: number) => Effect.Effect<IssuedLink, Refused>
    /** Sets the password of the session's own person and ends their other sessions. */
    readonly setPassword: (
      session: LiveSession,
      password: string,
      current: string | null,
    ) => Effect.Effect<void, Refused | SignInError>
    /** The person with this identity, created at first sight (logged as their own act); none for a removed person. */
    readonly resolveExternal: (identity: ExternalIdentity) => Effect.Effect<Option.Option<Person>, Refused>
  }
>()("@data-cabinet/core/person/People") {
  static readonly layer = Layer.effect(
    People,
    Effect.gen(function* () {
      const store = yield* PersonStore
      const log = yield* AuditLog
      const sessions = yield* SessionStore
      const queue = yield* Passwords
      const { countCurrent } = yield* attemptCounts
      const turns = Symbol("people who are signed in")
      const get = Effect.fnUntraced(function* (id: number): Effect.fn.Return<Person, Refused> {
        const found = yield* store.find(id)
        if (Option.isNone(found)) return yield* noSuchPerson(id)
        return found.value
      })
      return People.of({
        add: Effect.fnUntraced(function* (person) {
          yield* checkName(person.name)
          yield* checkRole(person.role)
          const added = yield* store.add({ ...person, name: plainName(person.name) })
          return added === "name_taken" ? yield* nameTaken : added
        }),
        list: store.list,
        get,
        set: Effect.fnUntraced(function* (id, { name, role }) {
          if (name !== undefined) yield* checkName(name)
          if (role !== undefined) yield* checkRole(role)
          return yield* changed(
            id,
            yield* store.change(id, { name: name === undefined ? undefined : plainName(name), role }),
          )
        }),
        remove: Effect.fnUntraced(function* (id) {
          return yield* changed(id, yield* store.remove(id))
        }),
        link: Effect.fnUntraced(function* (id) {
          const person = yield* get(id)
          if (person.issuer !== null) return yield* foreign
          const secret = newSecret("link")
          const seconds = person.signedInAt === null ? INVITATION_SECONDS : LINK_SECONDS
          const actor = yield* CurrentActor
          const isSelfIssued = actor?.kind === "person" && actor.id === id
          const expiresAt = yield* store.setLink(id, secretFingerprint("link", secret)!, seconds, isSelfIssued)
          if (Option.isNone(expiresAt)) return yield* noSuchPerson(id)
          return { person: { ...person, linkExpiresAt: expiresAt.value }, secret, expiresAt: expiresAt.value }
        }),
        setPassword: Effect.fnUntraced(function* (session, password, current) {
          yield* checkPassword(password, session.personName)
          const holder = yield* store.byName(session.personName)
          if (Option.isNone(holder) || holder.value.person.id !== session.personId) {
            return yield* noSuchPerson(session.personId)
          }
          const client = `session:${session.id}`
          const kept = holder.value.password
          if (kept !== null && !isFreshLink(session)) {
            yield* countCurrent(session.personId)
            const right = yield* queue.run(turns, client, verifyPassword(current ?? "", kept))
            if (!right) return yield* personError("wrong_password", "The current password is wrong.")
          }
          const hashed = yield* queue.run(turns, client, hashPassword(password))
          yield* store.setPassword(session.personId, hashed)
          yield* sessions.endAll(session.personId, session.id)
        }),
        resolveExternal: Effect.fnUntraced(function* (identity) {
          yield* checkName(identity.name)
          yield* checkRole(identity.role)
          const { issuer, role, follow } = identity
          const name = plainName(identity.name)
          const known = Option.getOrNull(yield* store.findExternal(identity))
          if (known?.removedAt != null) return Option.none()
          if (known !== null && (!follow || (known.name === name && known.role === role))) return Option.some(known)
          const object = known === null ? null : `person ${known.id}`
          const act = { action: "person.vouch", object, changes: { issuer, name, role }, makes: "person" }
          const person = yield* managed(log, act, store.saveExternal({ ...identity, name }))
          return person.removedAt === null ? Option.some(person) : Option.none()
        }),
      })
    }),
  )
}

/** A new person, with their first one-time link. */
export const invite = (people: People["Service"], person: NewPerson): Effect.Effect<IssuedLink, Refused> =>
  Effect.flatMap(people.add(person), ({ id }) => people.link(id))

/** A link that a session issued for its own person proves no more than that session. */
const isFreshLink = ({ method, isSelfIssued, ageSeconds }: LiveSession): boolean =>
  method === "link" && !isSelfIssued && ageSeconds < FRESH_LINK_SECONDS

const plainName = (name: string): string => name.trim().normalize("NFC")

const checkName = (name: string): Effect.Effect<void, PersonError> =>
  plainName(name) === "" ||
  plainName(name).length > 100 ||
  /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(plainName(name)) ||
  !name.isWellFormed()
    ? Effect.fail(personError("bad_name", "A person needs a name of 1 to 100 characters, without control characters."))
    : Effect.void

/** A program without types may pass any text. */
const checkRole = (role: string): Effect.Effect<void, PersonError> =>
  PERSON_ROLES.some((known) => known === role)
    ? Effect.void
    : Effect.fail(personError("bad_role", `A person's role must be one of ${PERSON_ROLES.join(", ")}.`))

const noSuchPerson = (id: number) => Effect.fail(personError("no_such_person", `Person ${id} does not exist.`))
const nameTaken = Effect.fail(personError("name_taken", "Another person already has this name."))
const foreign = Effect.fail(
  personError(
    "foreign_person",
    "This person does not sign in here, but through a proxy, a provider, or the embedding program.",
  ),
)

const changed = (id: number, result: Changed): Effect.Effect<Person, PersonError> => {
  if (result === "missing") return noSuchPerson(id)
  if (result === "name_taken") return nameTaken
  if (result !== "last_owner") return Effect.succeed(result)
  return Effect.fail(personError("last_owner", "This is the last owner: give another person the role owner first."))
}
