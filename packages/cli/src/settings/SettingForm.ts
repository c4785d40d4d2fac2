/** The forms of a setting's text. Each parses the text to a value, or describes the valid form in words. */
import { trustedProxies } from "@data-cabinet/http-node/server/ClientAddress"
import { fitsPerson } from "@data-cabinet/http-node/session/ExternalSignIn"
import { type Network, parseNetworks } from "@data-cabinet/core/network/IpAddress"
import { SecretCipher } from "@data-cabinet/store-pg/key/SecretCipher"
import { completeDatabaseUrl } from "@data-cabinet/store-pg/connection/DatabaseUrlDefaults"
import { normalizeDatabaseUrl, readUri } from "@data-cabinet/store-pg/connection/DatabaseUrl"
import { PERSON_ROLES, type PersonRole } from "@data-cabinet/core/key/Role"
import { Result } from "effect"

/** A failure completes the sentence "PORT is …: it must be …". */
export type Form<A> = (text: string) => Result.Result<A, string>

export const text: Form<string> = (given) => Result.succeed(given)

export const wholeNumber =
  (least: number, most: number): Form<number> =>
  (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
    return value >= least && value <= most ? Result.succeed(value) : Result.fail(`an integer from ${least} to ${most}`)
  }

export const oneOf =
  <const Word extends string>(...words: ReadonlyArray<Word>): Form<Word> =>
  (given) => {
    const word = words.find((known) => known === given.toLowerCase())
    return word === undefined ? Result.fail(`one of ${words.join(", ")}`) : Result.succeed(word)
  }

/** A public URL: no credentials, no query, and no trailing slash in the parsed value. */
export const webUrl: Form<string> = (given) => {
  const url = URL.parse(given)
  const plain =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ""
  return plain ? Result.succeed(url.href.replace(/\/+$/, "")) : Result.fail("a URL such as https://cabinet.example.com")
}

/** Each as a browser writes it in the header `Origin`. */
export const origins: Form<ReadonlyArray<string>> = (given) => {
  const all: Array<string> = []
  for (const part of given.split(",").map((origin) => origin.trim())) {
    if (part === "") continue
    const url = URL.parse(part)
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
    if (!isOrigin) {
      return Result.fail(
        `a list of origins such as https://app.example.com, http://localhost:3000; ${JSON.stringify(part)} is not an origin`,
      )
    }
    all.push(url.origin)
  }
  return Result.succeed(all)
}

/** The first key encrypts, and the others decrypt older values; `none` in the first place stops encrypting. */
export const secretKeys: Form<SecretCipher> = (given) => {
  const parts = given.split(",").map((part) => part.trim())
  const keys = parts.map((part) => (/^[A-Za-z0-9+/_-]{43}=?$/.test(part) ? Buffer.from(part, "base64") : null))
  return keys.every((key, at) => key?.length === 32 || (key === null && at === 0 && parts[at] === "none"))
    ? Result.succeed(new SecretCipher(keys))
    : Result.fail("32 bytes in base64, as openssl rand -base64 32 prints them, or several of those with commas")
}

/** As in a Host header, without a port. */
export const domain: Form<string> = (given) => {
  const name = given.toLowerCase().replace(/\.$/, "")
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)
    ? Result.succeed(name)
    : Result.fail("a domain such as cabinets.example.com")
}

/** The URL of one more cabinet's database: whole, because it is kept where no environment completes it. */
export const tenantDatabaseUrl =
  (certificates: string | null): Form<string> =>
  (given) =>
    Result.flatMap(normalizeDatabaseUrl(given), (whole) =>
      completeDatabaseUrl(whole, { env: {}, certificates, use: "primary" }),
    )

/** A URL that may leave parts out, to be filled in from where libpq would take them (see CompleteDatabaseUrls). */
export const partialDatabaseUrl: Form<string> = (given) => Result.map(readUri(given), () => given)

/** The login of a role; the user name in it says which. */
export const databaseLogin: Form<string> = (given) =>
  Result.flatMap(readUri(given), ({ user }) =>
    user === undefined
      ? Result.fail("a URL with the role's name, such as postgres://role:password@host:5432/database")
      : Result.succeed(given),
  )

/** A name that this program and PostgreSQL interpret alike; PostgreSQL inverts the sign of `+02:00`. */
export const timeZone: Form<string> = (given) => {
  // The default locale: loading the formats of another takes 6 ms of a start.
  if (given === "UTC") return Result.succeed(given)
  try {
    if (!/^[A-Za-z]/.test(given)) throw new RangeError()
    return Result.succeed(new Intl.DateTimeFormat("en", { timeZone: given }).resolvedOptions().timeZone)
  } catch {
    return Result.fail("the name of a time zone such as Europe/Berlin or UTC")
  }
}

const SUM = "a list of addresses and networks such as 10.0.0.0/8, fd00::/8"

export const networks: Form<ReadonlyArray<Network>> = (given) => {
  const read = parseNetworks(given)
  return typeof read === "string" ? Result.fail(`${SUM}; ${JSON.stringify(read)} is neither`) : Result.succeed(read)
}

export const proxies: Form<(address: string) => boolean> = (given) => Result.map(networks(given), trustedProxies)

/** In lower case. */
export const personHeader: Form<string> = (given) => {
  const name = given.toLowerCase()
  return fitsPerson(name)
    ? Result.succeed(name)
    : Result.fail("the name of a dedicated header, such as Remote-User, that neither clients nor HTTP itself use")
}

/** Kept as given, because the issuer's own spelling counts. Only an issuer on this machine may do without TLS. */
export const issuer: Form<string> = (given) => {
  const url = URL.parse(given)
  const isPlain = url !== null && url.username + url.password + url.search + url.hash === ""
  const isLocal = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  return isPlain && (url.protocol === "https:" || (url.protocol === "http:" && isLocal))
    ? Result.succeed(given)
    : Result.fail("an https URL such as https://id.example.com/realms/main")
}

export const scope: Form<string> = (given) =>
  given.split(/\s+/).includes("openid")
    ? Result.succeed(given)
    : Result.fail("a list of scopes that includes openid, separated by spaces")

export const roles: Form<ReadonlyMap<string, PersonRole>> = (given) => {
  const map = new Map<string, PersonRole>()
  for (const pair of given.split(",")) {
    const at = pair.lastIndexOf("=")
    const role = PERSON_ROLES.find((known) => known === pair.slice(at + 1).trim())
    const value = pair.slice(0, Math.max(0, at)).trim()
    if (role === undefined || value === "") {
      return Result.fail("a list such as admins=owner,staff=viewer, with the roles owner, editor and viewer")
    }
    map.set(value, role)
  }
  return Result.succeed(map)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, "": 1000, min: 60_000, m: 60_000 }

const timeFrom =
  (least: number): Form<number> =>
  (given) => {
    const [, digits, unit = ""] = /^(\d{1,9})\s*(ms|s|min|m|)$/.exec(given) ?? []
    const millis = digits === undefined ? Number.NaN : Number(digits) * UNITS[unit]!
    return millis >= least && millis <= 3_600_000
      ? Result.succeed(millis)
      : Result.fail("a duration such as 500ms, 10s or 2min, at most an hour")
  }

/** Milliseconds; a bare number is seconds. */
export const duration = timeFrom(1)

/** Whole days, such as 180d; a bare number is days. */
export const days: Form<number> = (given) => {
  const [, digits] = /^(\d{1,5})\s*d?$/.exec(given) ?? []
  const count = digits === undefined ? 0 : Number(digits)
  return count >= 1 && count <= 36_500 ? Result.succeed(count) : Result.fail("a number of days such as 180d")
}

/** A duration that may be 0. */
export const pause = timeFrom(0)

/** The definition of a setting: its names, its form, and its default. */
export interface Setting<A> {
  readonly env: string
  /** Without its dashes. */
  readonly flag: string
  /** The placeholder of the value in help texts. */
  readonly value: string
  readonly form: Form<A>
  /** The default as a user would write it; null if being unset has a meaning of its own, which `about` then explains. */
  readonly fallback: string | null
  readonly about: string
  /** Taken from the environment alone: every user of the machine can read arguments. */
  readonly secret?: boolean
}

type Described = Omit<Setting<unknown>, "form" | "fallback">

export const setting = <A>(described: Described, form: Form<A>, fallback: string): Setting<A> => ({
  ...described,
  form,
  fallback,
})

export const optional = <A>(described: Described, form: Form<A>): Setting<A | null> => ({
  ...described,
  form,
  fallback: null,
})
