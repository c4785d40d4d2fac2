/**
 * Signs people in, by one-time link, by name and password, or through a provider. Every failure gives the same error
 * after the same time.
 *
 * Attempts by password or provider are counted by address and by account across all processes; an address beyond its
 * limit is refused without a query. A browser in which the person has signed in before is counted separately, and so is
 * the address of their last sign-in. So guessing at an account, or flooding a shared address, does not lock its people
 * out. Links cannot be guessed, so only their queries are bounded.
 */
import { Context, Effect, Layer, Option } from "effect"
import { type Actor, CurrentActor } from "../audit/Actor.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { managed } from "../audit/Managed.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { SecretLookups } from "../limit/SecretLookups.ts"
import { attemptCounts, SignInRates, subjectOf } from "./AttemptCounts.ts"
import { MAX_PASSWORD_LENGTH, verifyPassword, Passwords } from "./Password.ts"
import type { LiveSession, Person, SignInMethod, SignInOrigin, StartedSession } from "./Person.ts"
import { notSignedIn, type SignInError, tooManySignIns } from "./PersonError.ts"
import { PersonStore } from "./PersonStore.ts"
import { newSecret, secretFingerprint } from "./Secret.ts"
import { type NewSession, SessionStore } from "./SessionStore.ts"

const MAX_USER_AGENT_LENGTH = 300

/** Logged for an unknown name, instead of the name, which may be a mistyped password. */
const UNKNOWN = { id: null, name: "unknown", role: "viewer" } as const

type Refused = SignInError | StoreUnavailable

export class SignIn extends Context.Service<
  SignIn,
  {
    readonly byLink: (secret: string, origin: SignInOrigin) => Effect.Effect<StartedSession, Refused>
    /** Sends a browser to a provider; `redirect` is not run for an address that is sent too often. */
    readonly toProvider: <A, E>(redirect: Effect.Effect<A, E>, origin: SignInOrigin) => Effect.Effect<A, E | Refused>
    /** Counts a return from a provider by a browser that was not sent there; fails for an address with too many. */
    readonly strayReturn: (origin: SignInOrigin) => Effect.Effect<void, Refused>
    /**
     * Signs in a person identified by a provider; an address that tries too often is refused before `identify` runs.
     */
    readonly byProvider: <E>(
      identify: Effect.Effect<Person, E>,
      origin: SignInOrigin,
    ) => Effect.Effect<StartedSession, E | Refused>
    readonly byPassword: (
      name: string,
      password: string,
      origin: SignInOrigin,
    ) => Effect.Effect<StartedSession, Refused>
  }
>()("@data-cabinet/core/person/SignIn") {
  static readonly layer = Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const people = yield* PersonStore
      const sessions = yield* SessionStore
      const log = yield* AuditLog
      const { countOrigin, countRedirect, countStray, countStranger } = yield* attemptCounts
      const queue = yield* Passwords
      const links = new SecretLookups((yield* SignInRates).links)
      const turns = { known: Symbol("known browsers"), others: Symbol("other browsers") }

      /** Begins a session, as an act in the audit log. */
      const begin = (
        who: Pick<Person, "name" | "role"> & { readonly id: number | null },
        method: SignInMethod,
        origin: SignInOrigin,
        work: (session: NewSession) => Effect.Effect<Option.Option<LiveSession>, Refused>,
      ): Effect.Effect<StartedSession, Refused> => {
        const actor: Actor = { kind: "person", ...pick(who), from: origin.client, requestId: origin.requestId }
        const secret = newSecret("session")
        const session = newSession(secret, method, origin)
        const started = Effect.flatMap(work(session), (found) =>
          Option.isNone(found) ? Effect.fail(notSignedIn) : Effect.succeed({ ...found.value, secret }),
        )
        const act = { action: "session.begin", object: null, changes: { method }, makes: "session" }
        return Effect.provideService(managed(log, act, started), CurrentActor, actor)
      }

      return SignIn.of({
        byLink: Effect.fnUntraced(function* (secret, origin) {
          const link = secretFingerprint("link", secret.trim())
          if (link === null) return yield* notSignedIn
          const person = yield* links
            .find(origin.client, link, people.byLink(link))
            .pipe(Effect.catchTag("TooManyWrong", ({ retryAfter }) => Effect.fail(tooManySignIns(retryAfter))))
          if (Option.isNone(person)) return yield* notSignedIn
          return yield* begin(person.value, "link", origin, (session) => sessions.claim(link, session))
        }),
        toProvider: (redirect, origin) => Effect.andThen(countRedirect(origin), redirect),
        strayReturn: countStray,
        byProvider: (identify, origin) =>
          Effect.gen(function* () {
            yield* countOrigin(origin)
            const person = yield* identify
            return yield* begin(person, "oidc", origin, (session) => sessions.begin(person.id, session))
          }),
        byPassword: Effect.fnUntraced(function* (name, password, origin) {
          yield* countOrigin(origin)
          const given = name.trim().normalize("NFC")
          const askable = given.length <= 100 && given.isWellFormed() && !given.includes("\0")
          const holder = askable ? yield* people.byName(given) : Option.none()
          const { person, password: stored, knownFrom } = Option.getOrElse(holder, () => NO_HOLDER)
          const { client, browser } = origin
          const isKnown = browser !== null && browser.personId === person?.id
          if (!isKnown) yield* countStranger(given, knownFrom, origin)
          const fits = password.length <= 2 * MAX_PASSWORD_LENGTH
          const compared = queue.run(
            isKnown ? turns.known : turns.others,
            isKnown ? `browser:${browser.id}` : subjectOf(client),
            verifyPassword(fits ? password : "", stored),
          )
          return yield* begin(person ?? UNKNOWN, "password", origin, (session) =>
            Effect.flatMap(compared, (right) =>
              right && person !== null ? sessions.begin(person.id, session) : Effect.succeed(Option.none()),
            ),
          )
        }),
      })
    }),
  )
}

const newSession = (secret: string, method: SignInMethod, { client, userAgent }: SignInOrigin): NewSession => ({
  fingerprint: secretFingerprint("session", secret)!,
  method,
  client,
  userAgent: userAgent?.toWellFormed().replaceAll("\0", "").slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  knownFrom: client === null ? null : subjectOf(client),
})

const NO_HOLDER = { person: null, password: null, knownFrom: null } as const

const pick = ({ id, name, role }: Pick<Actor, "id" | "name" | "role">) => ({ id, name, role })
