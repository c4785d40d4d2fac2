/**
 * Sign-in by somebody else's word: that of the program that embeds the cabinet, or of a proxy that has asked for a password
 * already. Nothing is believed of a proxy's header that comes from another address, or twice.
 */
import type { PersonRole } from "@data-cabinet/core/key/Role"
import { People } from "@data-cabinet/core/person/People"
import type { Person } from "@data-cabinet/core/person/Person"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Context, Effect, Option, Result } from "effect"
import { plainAddress, type TrustedProxies } from "../limit/ClientAddress.ts"
import type { Request } from "../server/Request.ts"

/** A request as the embedding program sees it. */
export interface AskedWho {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A person in the embedding program's own words. */
export interface NamedPerson {
  /** Stays the same for this person for ever: what they do and keep here is told by it. */
  readonly id: string
  readonly name: string
  readonly role: PersonRole
}

/** Null for nobody; what it throws denies. */
export type WhoIs = (request: AskedWho) => NamedPerson | null | Promise<NamedPerson | null>

export interface ProxySignIn {
  /** In lower case. */
  readonly header: string
  readonly isProxy: TrustedProxies
  /** The role at first sight; an owner may change it. */
  readonly role: PersonRole
}

/** Neither, unless the composition of the server provides them. */
export const Vouchers = Context.Reference<{ readonly whoIs: WhoIs | null; readonly proxy: ProxySignIn | null }>(
  "@data-cabinet/http-node/person/Vouchers",
  { defaultValue: () => ({ whoIs: null, proxy: null }) },
)

/** `handled`: nobody else is asked. */
export type Vouch = (
  request: Request,
) => Effect.Effect<{ readonly person: Person | null; readonly handled: boolean }, StoreUnavailable>

const MAX_SUBJECT = 200

const UNHANDLED = { person: null, handled: false }
const NOBODY = { person: null, handled: true }

/** The header's value; null if it is not from the proxy, came twice (joined by commas), or says nothing. */
export const proxySubject = (
  { header, isProxy }: ProxySignIn,
  { peer, headers }: Pick<Request, "peer" | "headers">,
) => {
  const address = peer === undefined ? undefined : plainAddress(peer)
  if (address === undefined || !isProxy(address)) return null
  const value = headers[header]?.trim()
  if (value === undefined || value === "" || value.includes(",") || value.length > MAX_SUBJECT) return null
  // Node reads headers as Latin-1; proxies send UTF-8.
  const text = Buffer.from(value, "latin1").toString("utf8")
  return text.includes("\uFFFD") ? null : text
}

export const vouch = Effect.gen(function* () {
  const { whoIs, proxy } = yield* Vouchers
  const people = yield* People

  const asPerson = (vouched: Parameters<typeof people.vouched>[0]) =>
    people.vouched(vouched).pipe(
      Effect.map((found) => ({ person: Option.getOrNull(found), handled: true })),
      Effect.catchTag("PersonError", ({ message }) =>
        Effect.as(Effect.logWarning(`a person of the ${vouched.issuer} was refused: ${message}`), NOBODY),
      ),
    )

  const byProgram = Effect.fnUntraced(function* (ask: WhoIs, { method, url, headers }: Request) {
    const said = yield* Effect.result(
      Effect.tryPromise(async () => {
        const named = await ask({ method, url, headers })
        return named === null ? null : { id: named.id, name: named.name, role: named.role }
      }),
    )
    if (Result.isFailure(said)) {
      yield* Effect.logWarning("whoIs failed, and nobody was signed in", said.failure)
      return NOBODY
    }
    const named = said.success
    if (named === null) return NOBODY
    const { id, name, role } = named
    if (
      typeof id !== "string" ||
      id === "" ||
      id.length > MAX_SUBJECT ||
      id.includes("\0") ||
      typeof name !== "string"
    ) {
      yield* Effect.logWarning("whoIs has to return an id of 1 to 200 characters, a name and a role")
      return NOBODY
    }
    return yield* asPerson({ issuer: "program", subject: id, name, role, follow: true })
  })

  const result: Vouch = (request) => {
    if (whoIs !== null) return byProgram(whoIs, request)
    const subject = proxy === null ? null : proxySubject(proxy, request)
    if (subject === null) return Effect.succeed(UNHANDLED)
    return asPerson({ issuer: "proxy", subject, name: subject, role: proxy!.role, follow: false })
  }
  return result
})
