/**
 * The redirect to an identity provider and back. The provider's response counts only together with the cookie that the
 * browser got before: state and nonce, sealed, for ten minutes and one response, whatever its outcome. The log, not the
 * screen, says why a sign-in was refused.
 */
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { IdentityProvider, type Provider, ProviderFailure } from "@data-cabinet/core/person/IdentityProvider"
import { People } from "@data-cabinet/core/person/People"
import type { Person, SignInOrigin } from "@data-cabinet/core/person/Person"
import type { PersonError, SignInError } from "@data-cabinet/core/person/PersonError"
import { ProvidedRoles, providedRole } from "@data-cabinet/core/person/ProvidedRole"
import { ATTEMPT_SECONDS, type BegunSignIn, openAttempt, sealAttempt } from "@data-cabinet/core/person/SealedAttempt"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { attemptCookie } from "@data-cabinet/http-node/session/SessionCookie"
import { ExternalSignIns } from "@data-cabinet/http-node/session/ExternalSignIn"
import { Clock, Effect, Option } from "effect"
import type { Frame } from "../html/Shell.ts"
import type { ConsoleRefusal, ConsoleScreen, ScreenCall, ScreenResult } from "../screen/ConsoleScreen.ts"
import { signInScreen } from "./SessionForms.ts"
import { field, refusedSignIn, signInEffects, wanted } from "./SessionScreens.ts"

type Failed = ProviderFailure | PersonError | SignInError | StoreUnavailable

const notIn = new ProviderFailure({ is: "refused", detail: "no role is given to them, or an owner removed them" })
const usedUp = new ProviderFailure({ is: "refused", detail: "their browser came back with a sign-in that was used" })
const away: ManageError = { code: "unavailable", message: "The provider by which people sign in did not respond." }

const MAX_TO = 1_000

const identifier = Effect.gen(function* () {
  const people = yield* People
  const rules = yield* ProvidedRoles
  const idempotency = yield* Idempotency
  /** Claims the attempt in all processes; of two redirects back with one state, the second finds it used. */
  const use = ({ state }: BegunSignIn): Effect.Effect<void, Failed> => {
    const request = { actor: "sign-in", key: state, request: state }
    return idempotency.once(request, { completed: "after", work: Effect.void, kept: () => "" }).pipe(
      Effect.catchTag("IdempotencyError", () => Effect.fail(usedUp)),
      Effect.flatMap(({ replayed }) => (replayed ? Effect.fail(usedUp) : Effect.void)),
    )
  }
  return Effect.fnUntraced(function* (
    provider: Provider,
    callback: URL,
    begun: BegunSignIn,
    { client: from, requestId }: SignInOrigin,
  ): Effect.fn.Return<Person, Failed> {
    yield* use(begun)
    const { issuer, subject, name, roles } = yield* provider.complete(callback, begun)
    const given = providedRole(rules, roles)
    if (given === null) return yield* notIn
    const { role, claimed: follow } = given
    const found = yield* people
      .resolveExternal({ issuer: "oidc", subject: `${issuer} ${subject}`, name, role, follow })
      .pipe(Effect.provideService(CurrentActor, { kind: "person", id: null, name, role, from, requestId }))
    return Option.isSome(found) ? found.value : yield* notIn
  })
})

/** The form again, or a refusal; the log says why. */
const failedAt =
  ({ host }: Provider) =>
  (frame: Frame, to: string) =>
  (error: Failed): Effect.Effect<ScreenResult, ConsoleRefusal> => {
    if (error._tag === "StoreUnavailable") return Effect.fail(error)
    const refused = error._tag === "SignInError" ? refusedSignIn(error) : { retryAfter: null }
    const screen = signInScreen(frame, refused, { name: "", to, provider: host, byProvider: true })
    const { retryAfter } = refused
    if (retryAfter !== null) {
      return Effect.succeed({ screen, status: 429, headers: { "retry-after": String(retryAfter) } })
    }
    const detail = error._tag === "ProviderFailure" ? error.detail : error.message
    const said = Effect.logWarning(`somebody was not signed in by ${host}: ${detail}`)
    return error._tag === "ProviderFailure" && error.is === "unreachable"
      ? Effect.andThen(said, Effect.fail(away))
      : Effect.as(said, { screen, status: 403 })
  }

const screensOf = Effect.fnUntraced(function* (provider: Provider) {
  const { signIn, originOf, signedIn, baseUrl } = yield* signInEffects
  const keys = yield* CursorKeys
  const identify = yield* identifier
  const kept = attemptCookie(baseUrl)
  const redirectUri = `${baseUrl}/console/sign-in/callback`
  const failed = failedAt(provider)
  return [
    {
      path: "/console/sign-in/provider",
      action: null,
      get: ({ frame, pairs, request }: ScreenCall) => {
        const to = field(pairs, "to").slice(0, MAX_TO)
        return Effect.gen(function* () {
          const begun = provider.begin(redirectUri)
          const { url, attempt } = yield* signIn.toProvider(begun, yield* originOf(request))
          const sealed = sealAttempt(yield* keys.key, { ...attempt, to }, yield* Clock.currentTimeMillis)
          return { location: url, cookies: [kept.set(sealed, ATTEMPT_SECONDS)] }
        }).pipe(Effect.catch(failed(frame, to)))
      },
    },
    {
      path: "/console/sign-in/callback",
      action: null,
      get: Effect.fnUntraced(function* ({ frame, query, request }: ScreenCall) {
        const now = yield* Clock.currentTimeMillis
        const begun = openAttempt(yield* keys.key, kept.read(request.headers) ?? "", now)
        const origin = yield* originOf(request)
        if (begun === null) {
          return yield* signIn
            .strayReturn(origin)
            .pipe(Effect.andThen(Effect.fail(notBegun)), Effect.catch(failed(frame, "")))
        }
        const callback = new URL(`${redirectUri}?${query}`)
        return yield* Effect.matchEffect(signIn.byProvider(identify(provider, callback, begun, origin), origin), {
          onSuccess: (session) => signedIn(session, wanted(frame, begun.to), kept.clear),
          onFailure: failed(frame, begun.to),
        })
      }),
    },
  ] satisfies ReadonlyArray<ConsoleScreen>
})

const notBegun = new ProviderFailure({
  is: "refused",
  detail: "their browser had begun no sign-in in the last ten minutes",
})

/** None without a provider, or where the program around the cabinet signs people in. */
export const providerScreens = Effect.gen(function* () {
  const { program } = yield* ExternalSignIns
  const provider = yield* IdentityProvider
  return program !== null || provider === null ? [] : yield* screensOf(provider)
})
