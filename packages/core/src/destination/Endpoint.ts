/**
 * The URL of a service or of a broker: a scheme, a host and perhaps a port, and nothing else. `URL` alone takes more: it drops
 * tabs and line breaks, reads a backslash as a slash, and knows hosts that no name server does.
 */

/** Where something is reached. */
export interface Endpoint {
  /** In lower case, without the colon. */
  readonly scheme: string
  /** As in a URL: a name in lower case and ASCII, an IPv4 address, or an IPv6 address in brackets. */
  readonly hostname: string
  /** Null: that of the scheme. */
  readonly port: number | null
}

/** Why a text is not an endpoint, in words that have no part of it. */
export interface EndpointFault {
  readonly why: string
  /** Where the wrong part begins: characters before it. */
  readonly at: number
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const MAX_NAME = 253

/** Whether a name server may know this name. */
const isName = (hostname: string): boolean =>
  hostname.length <= MAX_NAME &&
  hostname
    .replace(/\.$/, "")
    .split(".")
    .every((label) => LABEL.test(label))

/** The host in its normal form; null if it is none. */
const hostOf = (text: string): string | null => {
  const hostname = /[\s\p{Cc}%]/u.test(text) ? "" : (URL.parse(`http://${text}`)?.hostname ?? "")
  return hostname.startsWith("[") || isName(hostname) ? hostname : null
}

const portOf = (text: string): number | null => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

const EXCLUDED: ReadonlyArray<readonly [RegExp, string]> = [
  [/@/, "there may be no user and no password: they belong to the credentials"],
  [/[/\\]/, "there may be no path"],
  [/[?#]/, "there may be no query and no fragment"],
]

/** Reads a URL of one of these schemes. */
export const parseEndpoint = (text: string, schemes: ReadonlyArray<string>): Endpoint | EndpointFault => {
  const [begin = "", given = ""] = /^([A-Za-z]+):\/\//.exec(text) ?? []
  const scheme = given.toLowerCase()
  if (!schemes.includes(scheme)) {
    return { why: `it must begin with ${schemes.map((one) => `${one}://`).join(" or ")}`, at: 0 }
  }
  const rest = text.slice(begin.length).replace(/\/$/, "")
  for (const [sign, why] of EXCLUDED) {
    const found = rest.search(sign)
    if (found >= 0) return { why, at: begin.length + found }
  }
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(rest) ?? []
  const hostname = host === undefined ? null : hostOf(host)
  if (hostname === null) {
    return { why: "the host must be a name, an IPv4 address, or an IPv6 address in brackets", at: begin.length }
  }
  if (port === undefined) return { scheme, hostname, port: null }
  const number = portOf(port)
  return number === null
    ? { why: "a port is a number from 1 to 65535", at: begin.length + host!.length + 1 }
    : { scheme, hostname, port: number }
}
