/**
 * Parses the URL of a database as libpq's own parser does, which differs from parsers of web URLs: there may be several
 * hosts, each with its own port; any part may be empty; a password may contain every character but `@` and `/`; a plus
 * sign stands for itself. The result is decoded, without defaults.
 */
import { Result } from "effect"

export interface LibpqUri {
  readonly user: string | undefined
  readonly password: string | undefined
  /** One more than there are commas, each possibly empty; none if the URL names no host. */
  readonly hosts: ReadonlyArray<string>
  /** As written, each possibly empty: one for all hosts, or one for each; none if the URL names no port. */
  readonly ports: ReadonlyArray<string>
  readonly database: string | undefined
  /** All others, in order. */
  readonly parameters: ReadonlyArray<readonly [name: string, value: string]>
}

const FORM = "a URL such as postgres://user:password@host:5432/database"
const PERCENT = "a URL in which every % begins the code of a character, such as %25 for % itself"

class Refusal extends Error {}

const decoded = (text: string): string => {
  try {
    const value = decodeURIComponent(text)
    if (!value.includes("\0")) return value
  } catch {
    // Also for bytes that are not UTF-8.
  }
  throw new Refusal(PERCENT)
}

/** Steps of a path to a parser of web URLs, which would look for another database. */
const DOTS = "a URL whose database is not named . or .."

const given = (text: string | undefined): string | undefined =>
  text === undefined || text === "" ? undefined : decoded(text)

/** The host and port of `host:port` or `[host]:port`, not yet decoded. */
const readPlace = (text: string): readonly [host: string, port: string] => {
  if (text.startsWith("[")) {
    const [, host, port = ""] = /^\[([^\]]*)\](?::([\s\S]*))?$/.exec(text) ?? []
    if (host === undefined) throw new Refusal("a URL whose IPv6 host is closed by ] and followed by a port or nothing")
    if (host === "") throw new Refusal("a URL whose IPv6 host is not empty")
    return [host, port]
  }
  const [host, port = "", ...others] = text.split(":")
  if (others.length > 0) throw new Refusal("a URL whose IPv6 host is in brackets, such as [::1]")
  return [host!, port]
}

const readParameters = (query: string | undefined): ReadonlyArray<readonly [string, string]> => {
  if (query === undefined || query === "") return []
  return query.split("&").map((pair) => {
    const parts = pair.split("=")
    if (parts.length !== 2) throw new Refusal("a URL whose parameters are written name=value, joined by &")
    return [decoded(parts[0]!), decoded(parts[1]!)] as const
  })
}

/** Splits a list; none for the text of nothing. */
const listOf = (text: string | undefined): ReadonlyArray<string> => (text === undefined ? [] : text.split(","))

const read = (text: string): LibpqUri => {
  const body = /^postgres(?:ql)?:\/\/([\s\S]*)$/i.exec(text)?.[1]
  if (body === undefined) throw new Refusal(FORM)
  // A fragment means nothing to libpq and much in a web URL: refused, so that no two parsers can differ.
  if (body.includes("#")) throw new Refusal("a URL without #, which is written %23 in a password")
  const login = /^([^@/:]*)(?::([^@/]*))?@/.exec(body)
  const [, places, database, query] = /^([^/?]*)(?:\/([^?]*))?(?:\?([\s\S]*))?$/.exec(
    body.slice(login?.[0].length ?? 0),
  )!
  const each = places!.split(",").map(readPlace)
  const parameters = readParameters(query)
  const of = (name: string) => parameters.findLast(([known]) => known === name)?.[1]
  const path = given(database)
  if (path === "." || path === "..") throw new Refusal(DOTS)
  // As in libpq, the parameters take precedence.
  const hosts = of("host") ?? (places === "" ? undefined : given(each.map(([host]) => host).join(",")))
  const ports =
    of("port") ?? (each.every(([, port]) => port === "") ? undefined : given(each.map(([, port]) => port).join(",")))
  return {
    user: given(login?.[1]),
    password: given(login?.[2]),
    hosts: listOf(hosts),
    ports: listOf(ports),
    database: path,
    parameters: parameters.filter(([name]) => name !== "host" && name !== "port"),
  }
}

/** Fails with the end of the sentence "it must be …". */
export const parseUri = (text: string): Result.Result<LibpqUri, string> => {
  try {
    return Result.succeed(read(text))
  } catch (error) {
    if (error instanceof Refusal) return Result.fail(error.message)
    throw error
  }
}

/** Whether a web URL can have it as its host: no socket, and no IPv6 address with a zone. */
const isWebHost = (host: string): boolean => !host.startsWith("/") && !host.includes("%")

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : encodeURIComponent(host))

/**
 * Writes a URL that libpq and a parser of web URLs understand alike: several hosts, and the directory of a socket,
 * become parameters.
 */
export const formatUri = ({ user, password, hosts, ports, database, parameters }: LibpqUri): string => {
  const secret = password === undefined ? "" : `:${encodeURIComponent(password)}`
  const login = user === undefined && secret === "" ? "" : `${encodeURIComponent(user ?? "")}${secret}@`
  const isPlain = hosts.length === 1 && isWebHost(hosts[0]!) && ports.length <= 1
  const place = isPlain ? `${bracketed(hosts[0]!)}${ports[0] ? `:${ports[0]}` : ""}` : "localhost"
  const moved: ReadonlyArray<readonly [string, string]> = isPlain
    ? []
    : [
        ...(hosts.length > 0 ? [["host", hosts.join(",")] as const] : []),
        ...(ports.length > 0 ? [["port", ports.join(",")] as const] : []),
      ]
  const query = [...moved, ...parameters].map((pair) => pair.map(encodeURIComponent).join("=")).join("&")
  return `postgres://${login}${place}/${encodeURIComponent(database ?? "")}${query === "" ? "" : `?${query}`}`
}
