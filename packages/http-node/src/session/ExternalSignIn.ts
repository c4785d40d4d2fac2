/**
 * External sign-in: a person is identified by the program that embeds the cabinet, or by a proxy that has already
 * authenticated them. A proxy's header from any other address is ignored: it is as if it had not been sent. A header
 * from the proxy that is sent twice or unreadable signs nobody in, regardless of the rest of the request.
 */
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import type { PersonRole } from "@data-cabinet/core/key/Role"
import { People } from "@data-cabinet/core/person/People"
import type { Person } from "@data-cabinet/core/person/Person"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Context, Effect, Option, Result } from "effect"
import { clientAddress, plainAddress, type TrustedProxies } from "../server/ClientAddress.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request } from "../server/Request.ts"

/** A request as the embedding program sees it. */
export interface AskedWho {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The base address of the calling cabinet, for a program with several. */
  readonly baseUrl: string
  /**
   * The program's own request, with what its middleware added: Node's `IncomingMessage` for `nodeHandler`, the `Request` for
   * `fetchHandler`. Its body is not to be read.
   */
  readonly original: unknown
}

/** A person in the embedding program's own words. */
export interface NamedPerson {
  /** Never changes for this person: their acts and saved views belong to it. */
  readonly id: string
  readonly name: string
  readonly role: PersonRole
}

/** Null for nobody; an exception denies access. */
export type WhoIs = (request: AskedWho) => NamedPerson | null | Promise<NamedPerson | null>

export interface ProgramSignIn {
  readonly whoIs: WhoIs
  /** Where and how to sign in, in the program's own words; null for ours. */
  readonly hint: string | null
}

export interface ProxySignIn {
  /** In lower case. */
  readonly header: string
  readonly isProxy: TrustedProxies
  /** The role at first sight; an owner may change it. */
  readonly role: PersonRole
}

/** Both off, unless the composition of the server provides them. */
export const ExternalSignIns = Context.Reference<{
  readonly program: ProgramSignIn | null
  readonly proxy: ProxySignIn | null
  /** When each warning was last logged: the console and the management API log it once between them. */
  readonly warned: Map<string, number>
}>("@data-cabinet/http-node/session/ExternalSignIns", {
  defaultValue: () => ({ program: null, proxy: null, warned: new Map() }),
})

/** `handled`: no other sign-in is tried. */
export type IdentifyExternal = (
  request: Request,
) => Effect.Effect<{ readonly person: Person | null; readonly handled: boolean }, StoreUnavailable>

const MAX_SUBJECT_LENGTH = 200

/** A program that does not respond holds up the request no longer than this. */
const WHO_IS_TIMEOUT = "5 seconds"

const UNHANDLED = { person: null, handled: false }
const NOBODY = { person: null, handled: true }

/**
 * Headers of which Node keeps only the first, and headers with another meaning: a client's copy would silently hide
 * the proxy's.
 */
const UNFIT_HEADERS = new Set(
  `age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since last-modified
  location max-forwards proxy-authorization referer retry-after server user-agent set-cookie cookie origin connection
  transfer-encoding accept accept-encoding accept-language forwarded x-forwarded-for x-forwarded-host x-forwarded-proto
  x-request-id sec-fetch-site`.split(/\s+/),
)

/** Whether a proxy may name the signed-in person in this header, in lower case. */
export const fitsPerson = (header: string): boolean =>
  /^[a-z0-9][a-z0-9_-]{0,99}$/.test(header) && !UNFIT_HEADERS.has(header)

/**
 * The person that a header names; `unfit` for an unusable header: sent twice (which Node joins by commas), too long,
 * not UTF-8.
 */
type Named = { readonly subject: string } | "unfit" | "untrusted" | null

export const namedByProxy = (
  { header, isProxy }: Pick<ProxySignIn, "header" | "isProxy">,
  { peer, headers }: Pick<Request, "peer" | "headers">,
): Named => {
  const value = headers[header]?.trim()
  if (value === undefined || value === "") return null
  const address = peer === undefined ? undefined : plainAddress(peer)
  if (address === undefined || !isProxy(address)) return "untrusted"
  if (value.includes(",") || value.length > MAX_SUBJECT_LENGTH) return "unfit"
  // Node reads headers as Latin-1; proxies send UTF-8.
  const subject = Buffer.from(value, "latin1").toString("utf8")
  return subject.includes("\uFFFD") ? "unfit" : { subject }
}

/** At most one line a minute for each message: anyone on the network can cause it. */
const warner =
  (warned: Map<string, number>) =>
  (message: string, ...more: ReadonlyArray<unknown>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - (warned.get(message) ?? Number.NEGATIVE_INFINITY) < 60_000) return Effect.void
      warned.set(message, now)
      return Effect.logWarning(message, ...more)
    })

const isNamed = ({ id, name }: NamedPerson): boolean =>
  typeof id === "string" &&
  id !== "" &&
  id.length <= MAX_SUBJECT_LENGTH &&
  !id.includes("\0") &&
  typeof name === "string"

const UNTRUSTED = "untrusted"

export const identifyExternal = Effect.gen(function* () {
  const { program, proxy, warned } = yield* ExternalSignIns
  const { baseUrl, trustedProxies } = yield* HttpSettings
  const people = yield* People
  const warn = warner(warned)

  const asPerson = (request: Request, identity: Parameters<typeof people.resolveExternal>[0]) => {
    const { name, role } = identity
    const from = clientAddress(request, trustedProxies)
    return people.resolveExternal(identity).pipe(
      Effect.provideService(CurrentActor, { kind: "person", id: null, name, role, from, requestId: request.id }),
      Effect.map((found) => ({ person: Option.getOrNull(found), handled: true })),
      Effect.catchTag("PersonError", ({ message }) =>
        Effect.as(warn(`sign-in of a person by ${identity.issuer} failed: ${message}`), NOBODY),
      ),
    )
  }

  const byProgram = Effect.fnUntraced(function* (whoIs: WhoIs, request: Request) {
    const { method, url, headers, original } = request
    const said = yield* Effect.result(
      Effect.tryPromise(async () => {
        const named = await whoIs({ method, url, headers, baseUrl, original })
        return named == null ? null : { id: named.id, name: named.name, role: named.role }
      }).pipe(Effect.timeout(WHO_IS_TIMEOUT)),
    )
    if (Result.isFailure(said)) {
      yield* warn("whoIs failed, so nobody was signed in", said.failure)
      return NOBODY
    }
    const named = said.success
    if (named === null) return NOBODY
    if (!isNamed(named)) {
      yield* warn("whoIs must return an id of 1 to 200 characters, a name and a role: nobody was signed in")
      return NOBODY
    }
    const { id, name, role } = named
    return yield* asPerson(request, { issuer: "program", subject: id, name, role, follow: true })
  })

  const byProxy = Effect.fnUntraced(function* (signIn: ProxySignIn, request: Request) {
    const named = namedByProxy(signIn, request)
    if (named === null) return UNHANDLED
    if (named === "untrusted") {
      if (!warned.has(UNTRUSTED)) {
        warned.set(UNTRUSTED, 0)
        const about = `${signIn.header} came from ${request.peer ?? "no socket"}, which is not in CABINET_CONSOLE_PROXIES`
        yield* Effect.logWarning(`${about}: it is ignored. This is logged once.`)
      }
      return UNHANDLED
    }
    if (named === "unfit") {
      yield* warn(`${signIn.header} was sent twice by the proxy, or is not valid UTF-8: nobody was signed in`)
      return NOBODY
    }
    const { subject } = named
    return yield* asPerson(request, { issuer: "proxy", subject, name: subject, role: signIn.role, follow: false })
  })

  const result: IdentifyExternal = (request) => {
    if (program !== null) return byProgram(program.whoIs, request)
    return proxy === null ? Effect.succeed(UNHANDLED) : byProxy(proxy, request)
  }
  return result
})
