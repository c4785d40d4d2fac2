/**
 * Signs people in, by one-time link, by name and password, or by a provider's word. Whatever is wrong, the error is the same and takes as long.
 * Attempts are counted by address and by account across all processes; an address beyond its limit is refused without a look
 * at the database. An account is counted apart for the address from which its person signed in last, so that strangers who
 * guess at it do not lock that person out.
 */
import { hash } from "node:crypto"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { type Actor, CurrentActor } from "../audit/Actor.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { managed } from "../audit/Managed.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { rateSubject } from "../limit/RateSubject.ts"
import { RateWindows } from "../limit/RateWindows.ts"
import { WrongCredentials } from "../limit/WrongCredentials.ts"
import { MAX_PASSWORD_LENGTH, verifyPassword } from "./Password.ts"
import { Passwords } from "./PasswordQueue.ts"
import type { LiveSession, Person, SignInMethod, SignInOrigin, StartedSession } from "./Person.ts"
import { notSignedIn, type SignInError, tooManySignIns } from "./PersonError.ts"
import { PersonStore } from "./PersonStore.ts"
import { newSecret, secretFingerprint } from "./Secret.ts"
import { type NewSession, SessionStore } from "./SessionStore.ts"

/** Attempts a minute. */
export const SignInRates = Context.Reference<{ readonly address: number; readonly account: number }>(
  "@data-cabinet/core/person/SignInRates",
  { defaultValue: () => ({ address: 10, account: 5 }) },
)

const MAX_USER_AGENT_LENGTH = 300

/** Written where nobody of the name given is known: the name itself may be somebody's password. */
const UNKNOWN = { id: null, name: "unknown", role: "viewer" } as const

type Refused = SignInError | StoreUnavailable

export class SignIn extends Context.Service<
  SignIn,
  {
    readonly byLink: (secret: string, origin: SignInOrigin) => Effect.Effect<StartedSession, Refused>
    /** Somebody whom a provider has identified; `identify` is not run for an address that tries too often. */
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
      const windows = yield* RateWindows
      const rates = yield* SignInRates
      const queue = yield* Passwords
      const flood = new WrongCredentials(rates.address)

      const countAddress = Effect.fnUntraced(function* ({ client }: SignInOrigin): Effect.fn.Return<void, Refused> {
        const now = yield* Clock.currentTimeMillis
        const wait = flood.retryAfter(client, now)
        if (wait !== null) return yield* tooManySignIns(wait)
        flood.count(client, now)
        const { allowed, retryAfter } = yield* windows.count(`signin:${subjectOf(client)}`, rates.address)
        if (!allowed) return yield* tooManySignIns(retryAfter)
      })

      const countAccount = Effect.fnUntraced(function* (
        name: string,
        knownFrom: string | null,
        { client }: SignInOrigin,
      ): Effect.fn.Return<void, Refused> {
        const account = hash("sha256", name.toLowerCase(), "base64url").slice(0, 22)
        const own = knownFrom === subjectOf(client) ? ":own" : ""
        const { allowed, retryAfter } = yield* windows.count(`signin:account:${account}${own}`, rates.account)
        if (!allowed) return yield* tooManySignIns(retryAfter)
      })

      /** As an act of the audit log. */
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
          yield* countAddress(origin)
          const link = secretFingerprint("link", secret.trim())
          const person = link === null ? Option.none() : yield* people.byLink(link)
          if (link === null || Option.isNone(person)) return yield* notSignedIn
          return yield* begin(person.value, "link", origin, (session) => sessions.claim(link, session))
        }),
        byProvider: (identify, origin) =>
          Effect.gen(function* () {
            yield* countAddress(origin)
            const person = yield* identify
            return yield* begin(person, "oidc", origin, (session) => sessions.begin(person.id, session))
          }),
        byPassword: Effect.fnUntraced(function* (name, password, origin) {
          yield* countAddress(origin)
          const given = name.trim().normalize("NFC")
          const askable = given.length <= 100 && given.isWellFormed() && !given.includes("\0")
          const holder = askable ? yield* people.byName(given) : Option.none()
          const { person, password: stored, knownFrom } = Option.getOrElse(holder, () => NO_HOLDER)
          yield* countAccount(given, knownFrom, origin)
          const fits = password.length <= 2 * MAX_PASSWORD_LENGTH
          const compared = queue.run(subjectOf(origin.client), verifyPassword(fits ? password : "", stored))
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

const subjectOf = (client: string | null): string => (client === null ? "ip:unknown" : rateSubject(client))

const pick = ({ id, name, role }: Pick<Actor, "id" | "name" | "role">) => ({ id, name, role })
