/**
 * The URL of a database, `postgres://user:password@host:port/database?parameters`, with one host or several. Every
 * parameter is honoured as libpq would, or rejected with a message that names it: silently ignoring one could send a
 * password in plain text, or read as the wrong user. No message shows a value, because a mistyped one may be part of
 * the password.
 *
 * It rejects parameters of libpq that the driver does not support. It also rejects a login or a database among the
 * parameters, which would conflict with the roles and databases derived from the URL.
 */
import { Result } from "effect"
import { type SessionAttributes, wrongParameters } from "./DatabaseUrlParameters.ts"
import { type Encryption, encryptionOf } from "./DatabaseUrlTls.ts"
import { formatUri, type LibpqUri, parseUri } from "./LibpqUri.ts"
import { readOptions } from "./SessionOptions.ts"

/** Where a server listens. */
export interface Server {
  /** A name, an address, or the directory of a unix socket. */
  readonly host: string
  readonly port: number
}

export interface DatabaseUrl {
  readonly uri: LibpqUri
  /** At least one. */
  readonly servers: ReadonlyArray<Server>
  /** Which of the hosts to use. */
  readonly attributes: SessionAttributes
  readonly encryption: Encryption
  /** Time limit for connecting to one host; null for each pool's own. */
  readonly connectSeconds: number | null
  /** The prefix of the sessions' names. */
  readonly applicationName: string
  /** Settings of every session. */
  readonly options: ReadonlyArray<readonly [name: string, value: string]>
}

export const DEFAULT_NAME = "data-cabinet"

/** The name of a parameter may be shown unless it could be the part of a password after a question mark. */
const shownIn =
  (text: string) =>
  (name: string): string =>
    /^[a-z_]{1,40}$/i.test(name) && !text.slice(text.indexOf("?")).includes("@") ? ` ${name}` : ""

/** As libpq: `ssl=true` is another way to write `sslmode=require`. */
const withoutSsl = (uri: LibpqUri): Result.Result<LibpqUri, string> => {
  const ssl = uri.parameters.filter(([name]) => name === "ssl")
  if (ssl.length === 0) return Result.succeed(uri)
  if (ssl.length > 1 || ssl[0]![1] !== "true") {
    return Result.fail("a URL without ssl, or with ssl=true, which is sslmode=require")
  }
  if (uri.parameters.some(([name]) => name === "sslmode")) {
    return Result.fail("a URL with ssl or sslmode, not both")
  }
  return Result.succeed({
    ...uri,
    parameters: uri.parameters.map((pair) => (pair[0] === "ssl" ? (["sslmode", "require"] as const) : pair)),
  })
}

/**
 * Parses the parts that are present, without requiring all of them. Fails with the end of the sentence "it must be …".
 */
export const readUri = (text: string): Result.Result<LibpqUri, string> =>
  Result.flatMap(parseUri(text), (uri) =>
    Result.flatMap(withoutSsl(uri), (plain) => {
      const words = wrongParameters(plain, shownIn(text))
      return words === null ? Result.succeed(plain) : Result.fail(words)
    }),
  )

const encryptionIn = ({ hosts, parameters }: LibpqUri): Result.Result<Encryption, string> =>
  encryptionOf(
    new Map(parameters),
    hosts.some((host) => host.startsWith("/")),
  )

/** The parsed URL; fails if a part is missing that a cabinet needs. */
const databaseUrlFrom = (uri: LibpqUri): Result.Result<DatabaseUrl, string> => {
  const { hosts, ports, parameters } = uri
  if (uri.database === undefined) {
    return Result.fail("a URL such as postgres://user:password@host:5432/database")
  }
  if (hosts.length === 0 || hosts[0] === "") return Result.fail("a URL that names a host")
  const of = new Map(parameters)
  return Result.map(encryptionIn(uri), (encryption) => ({
    uri,
    servers: hosts.map((host, at) => ({ host, port: Number((ports[at] ?? ports[0]) || 5432) })),
    attributes: (of.get("target_session_attrs") ?? "any") as SessionAttributes,
    encryption,
    connectSeconds: of.has("connect_timeout") ? Number(of.get("connect_timeout")) : null,
    applicationName: of.get("application_name") ?? DEFAULT_NAME,
    options: of.has("options") ? Result.getOrThrow(readOptions(of.get("options")!)) : [],
  }))
}

export const parseDatabaseUrl = (text: string): Result.Result<DatabaseUrl, string> =>
  Result.flatMap(readUri(text), databaseUrlFrom)

/** Whether a parser of web URLs reads the text as libpq does, so that it may stay unchanged. */
const isRead = (text: string, { user, password, hosts, ports, database, parameters }: LibpqUri): boolean => {
  const url = URL.parse(text)
  if (url === null || hosts.length > 1 || ports.length > 1 || url.hostname === "") return false
  try {
    const login = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent)
    const inQuery = [...url.searchParams].filter(([name]) => name !== "host" && name !== "port")
    const hostname = url.searchParams.get("host") ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, "$1"))
    return (
      JSON.stringify([login, inQuery, hostname, url.searchParams.get("port") ?? url.port]) ===
      JSON.stringify([[user ?? "", password ?? "", database ?? ""], parameters, hosts[0], ports[0] ?? ""])
    )
  } catch {
    return false
  }
}

/**
 * Returns the normalized URL, which `new URL` can parse: the URLs of other roles and databases are derived from
 * it. Fails with the end of the sentence "it must be …".
 */
export const normalizeDatabaseUrl = (given: string): Result.Result<string, string> =>
  Result.map(parseDatabaseUrl(given), ({ uri }) => {
    // A login cannot be put before a missing host, and the URLs of the roles are built by doing so.
    const named = given.replace(/^(postgres(?:ql)?:)\/\/\//i, "$1//localhost/")
    return isRead(named, uri) ? named : formatUri(uri)
  })
