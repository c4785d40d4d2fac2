/**
 * The screens for signing in and out: a one-time link, a name with a password, the end of one session or of all, and a
 * new password. A failed sign-in shows the same message whatever the cause.
 */
import { clientAddress } from "@data-cabinet/http-node/server/ClientAddress"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { browserCookie, sessionCookie } from "@data-cabinet/http-node/session/SessionCookie"
import { ExternalSignIns } from "@data-cabinet/http-node/session/ExternalSignIn"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import type { Request } from "@data-cabinet/http-node/server/Request"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { IdentityProvider } from "@data-cabinet/core/person/IdentityProvider"
import { readBrowser, rememberBrowser } from "@data-cabinet/core/person/KnownBrowser"
import { People } from "@data-cabinet/core/person/People"
import type { LiveSession, SignInOrigin, StartedSession } from "@data-cabinet/core/person/Person"
import { SignInError } from "@data-cabinet/core/person/PersonError"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { SignIn } from "@data-cabinet/core/person/SignIn"
import { Effect } from "effect"
import { consolePath, type Frame } from "../html/Shell.ts"
import type {
  ConsoleRefusal,
  ConsoleScreen,
  FormCall,
  Pairs,
  ScreenCall,
  ScreenResult,
} from "../screen/ConsoleScreen.ts"
import { isConsoleAddress } from "../screen/FormAgain.ts"
import { keptForms } from "../screen/KeptForm.ts"
import { passwordScreen, signInScreen, signOutScreen, welcomeScreen } from "./SessionForms.ts"

export const field = (pairs: Pairs, name: string): string => pairs.find(([key]) => key === name)?.[1] ?? ""

/** The destination after sign-in: only ever a screen of this console. */
export const wanted = (frame: Frame, to: string): string =>
  isConsoleAddress(to) ? frame.base + to : consolePath(frame)

/** A secret, or the whole link that ends with it. */
const secretIn = (pasted: string): string => pasted.slice(pasted.indexOf("#") + 1).trim()

type Refused = Parameters<typeof signInScreen>[1]

/** The words of a refusal to sign in, in the visitor's language; other failures are screens of their own. */
export const refusedSignIn = (error: SignInError): NonNullable<Refused> =>
  error.code === "rate_limited" ? { retryAfter: error.retryAfter } : { retryAfter: null }

export const signInEffects = Effect.gen(function* () {
  const signIn = yield* SignIn
  const { baseUrl, trustedProxies } = yield* HttpSettings
  const { key } = yield* CursorKeys
  const cookie = sessionCookie(baseUrl)
  const browser = browserCookie(baseUrl)
  const originOf = (request: Request): Effect.Effect<SignInOrigin, StoreUnavailable> => {
    const kept = browser.read(request.headers)
    return Effect.map(
      kept === null ? Effect.succeed(null) : Effect.map(key, (signing) => readBrowser(signing, kept)),
      (known) => ({
        client: clientAddress(request, trustedProxies),
        userAgent: request.headers["user-agent"] ?? null,
        requestId: request.id,
        browser: known,
      }),
    )
  }
  /** The redirect after signing in, with the cookies of the session and of the browser. */
  const signedIn = (
    session: StartedSession,
    location: string,
    ...cookies: ReadonlyArray<string>
  ): Effect.Effect<ScreenResult, StoreUnavailable> =>
    Effect.map(key, (signing) => ({
      location,
      cookies: [...cookie.set(session), browser.set(rememberBrowser(signing, session.personId)), ...cookies],
    }))
  const started = (
    { frame, form }: FormCall,
    work: Effect.Effect<StartedSession, SignInError | StoreUnavailable>,
    again: (refused: NonNullable<Refused>) => ReturnType<typeof signInScreen>,
  ): Effect.Effect<ScreenResult, ConsoleRefusal> =>
    Effect.matchEffect(work, {
      onSuccess: (session) => signedIn(session, wanted(frame, field(form, "to"))),
      onFailure: (error) => {
        if (!(error instanceof SignInError)) return Effect.fail(error)
        const refused = refusedSignIn(error)
        const { retryAfter } = refused
        const headers = retryAfter === null ? {} : { "retry-after": String(retryAfter) }
        return Effect.succeed({ screen: again(refused), status: retryAfter === null ? 403 : 429, headers })
      },
    })
  return { signIn, originOf, started, signedIn, baseUrl }
})

type ScreensNeed = Effect.Services<typeof entrances> | Effect.Services<typeof exits>

const entrances = Effect.gen(function* () {
  const { signIn, originOf, started } = yield* signInEffects
  const provider = (yield* IdentityProvider)?.host ?? null
  const { isKept } = yield* keptForms
  return [
    {
      path: "/console/sign-in",
      action: null,
      get: ({ frame, pairs, request }: ScreenCall) => {
        const ended = field(pairs, "ended") === "" ? null : isKept(request) ? "kept" : "lost"
        return Effect.succeed({
          screen: signInScreen(frame, null, { name: "", to: field(pairs, "to"), provider, ended }),
        })
      },
      post: {
        action: null,
        repeat: "allowed",
        respond: (call: FormCall) => {
          const { frame, form, request } = call
          const name = field(form, "name")
          const work = Effect.flatMap(originOf(request), (origin) =>
            signIn.byPassword(name, field(form, "password"), origin),
          )
          return started(call, work, (refused) =>
            signInScreen(frame, refused, { name, to: field(form, "to"), provider }),
          )
        },
      },
    },
    {
      path: "/console/welcome",
      action: null,
      get: ({ frame, pairs }: ScreenCall) => Effect.succeed({ screen: welcomeScreen(frame, null, field(pairs, "to")) }),
      post: {
        action: null,
        repeat: "allowed",
        respond: (call: FormCall) => {
          const { frame, form, request } = call
          const work = Effect.flatMap(originOf(request), (origin) =>
            signIn.byLink(secretIn(field(form, "link")), origin),
          )
          return started(call, work, (refused) => welcomeScreen(frame, refused, field(form, "to")))
        },
      },
    },
  ] satisfies ReadonlyArray<ConsoleScreen>
})

/** The caller's session; refused if the caller has none here. */
const own = ({ session }: ScreenCall): Effect.Effect<LiveSession, ManageError> =>
  session === null
    ? Effect.fail({
        code: "no_such_person",
        message: "You are signed in elsewhere: by a token, by a proxy, or by the embedding program.",
      })
    : Effect.succeed(session)

const exits = Effect.gen(function* () {
  const people = yield* People
  const sessions = yield* Sessions
  const { baseUrl } = yield* HttpSettings
  const cookie = sessionCookie(baseUrl)
  return [
    {
      path: "/console/sign-out",
      action: "session.end",
      get: ({ frame }: ScreenCall) => Effect.succeed({ screen: signOutScreen(frame) }),
      post: {
        action: "session.end",
        repeat: "allowed",
        respond: Effect.fnUntraced(function* (call: FormCall) {
          const { frame, form } = call
          const session = yield* own(call)
          if (field(form, "everywhere") === "yes") yield* sessions.endAll(session.personId)
          else yield* sessions.end(session.id, session.personId)
          return { location: consolePath(frame, "sign-in"), cookies: cookie.clear }
        }),
      },
    },
    {
      path: "/console/password",
      action: "session.end",
      back: () => "password",
      get: ({ frame }: ScreenCall) => Effect.succeed({ screen: passwordScreen(frame) }),
      post: {
        action: "session.end",
        repeat: "allowed",
        respond: Effect.fnUntraced(function* (call: FormCall) {
          const { frame, form } = call
          const session = yield* own(call)
          yield* people.setPassword(session, field(form, "password"), field(form, "current"))
          return { location: consolePath(frame, "me") }
        }),
      },
    },
  ] satisfies ReadonlyArray<ConsoleScreen>
})

/** None where the program around the cabinet signs people in. */
export const sessionScreens = Effect.flatMap(
  ExternalSignIns,
  ({ program }): Effect.Effect<ReadonlyArray<ConsoleScreen>, never, ScreensNeed> =>
    program !== null
      ? Effect.succeed([])
      : Effect.map(Effect.all([entrances, exits]), ([ways, ends]) => [...ways, ...ends]),
)
