/**
 * Which parameters an address may have, and which values of each. Everything is honoured as libpq would, or rejected with
 * a message that names it. No message shows a value, because a mistyped one may be part of the password.
 */
import { Result } from "effect"
import type { LibpqUri } from "./LibpqUri.ts"
import { readOptions } from "./SessionOptions.ts"

export const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const
export type SslMode = (typeof SSL_MODES)[number]

export const SESSION_ATTRIBUTES = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const
export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number]

/** Accepted only with a value that matches the actual behaviour. The first one is recommended. */
const FIXED: Readonly<Record<string, ReadonlyArray<string>>> = {
  channel_binding: ["disable", "prefer"],
  client_encoding: ["UTF8"],
  gssencmode: ["disable", "prefer"],
  load_balance_hosts: ["disable"],
  sslcompression: ["0"],
  sslnegotiation: ["postgres"],
  sslsni: ["1"],
}

/** The reason for rejecting a value or a parameter, if there is one besides lack of support. */
const REFUSED: Readonly<Record<string, string>> = {
  channel_binding: "channel binding is not supported; sslmode=verify-full prevents interception as well",
  dbname: "which belongs after the host: postgres://host/database",
  password: "which belongs before the host: postgres://user:password@host/database",
  user: "which belongs before the host: postgres://user@host/database",
}

const HONOURED: ReadonlySet<string> = new Set([
  "application_name",
  "connect_timeout",
  "options",
  "passfile",
  "sslcert",
  "sslkey",
  "sslmode",
  "sslpassword",
  "sslrootcert",
  "target_session_attrs",
])

/** Longest `application_name`: PostgreSQL keeps 63 characters, and each pool adds the rest. */
const MAX_NAME_LENGTH = 20

/** The values that are checked here; each returns the end of the sentence "it must be …", or null. */
const VALUES: Readonly<Record<string, (value: string) => string | null>> = {
  application_name: (value) =>
    value.length >= 1 && value.length <= MAX_NAME_LENGTH && /^[\x20-\x7e]+$/.test(value)
      ? null
      : `a URL whose application_name has 1 to ${MAX_NAME_LENGTH} ASCII characters: a cabinet adds what each session is for`,
  connect_timeout: (value) =>
    /^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= 600
      ? null
      : "a URL whose connect_timeout is 1 to 600 seconds: no connection is waited for without a limit",
  options: (value) => Result.match(readOptions(value), { onSuccess: () => null, onFailure: (words) => words }),
  sslmode: (value) =>
    SSL_MODES.some((mode) => mode === value) ? null : `a URL whose sslmode is one of ${SSL_MODES.join(", ")}`,
  target_session_attrs: (value) =>
    SESSION_ATTRIBUTES.some((known) => known === value)
      ? null
      : `a URL whose target_session_attrs is one of ${SESSION_ATTRIBUTES.join(", ")}`,
}

const wrongPlace = ({ hosts, ports }: LibpqUri): string | null => {
  for (const host of hosts) {
    if (hosts.length > 1 && host === "") return "a URL in which every host has a name"
    if (host !== "" && !host.startsWith("/") && !/^[0-9a-z._:%-]+$/i.test(host)) {
      return "a URL in which every host is a name, an IP address or the directory of a socket"
    }
  }
  if (ports.length > 1 && ports.length !== hosts.length) return "a URL with one port, or one for each host"
  return ports.every((port) => port === "" || (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    ? null
    : "a URL whose port is a number from 1 to 65535"
}

/**
 * The end of the sentence "it must be …", or null. `shown` returns the name of a parameter as it may be shown, with a
 * space before it, or nothing.
 */
export const wrongParameters = (uri: LibpqUri, shown: (name: string) => string): string | null => {
  const seen = new Set<string>()
  for (const [name, value] of uri.parameters) {
    if (seen.has(name)) return `a URL with the parameter${shown(name)} once`
    seen.add(name)
    const fixed = FIXED[name]
    if (fixed !== undefined) {
      if (fixed.some((known) => known.toLowerCase() === value.toLowerCase())) continue
      return `a URL without ${name}, or with ${name}=${fixed[0]}: ${REFUSED[name] ?? "other values are not supported"}`
    }
    if (!HONOURED.has(name)) {
      return `a URL without the parameter${shown(name)}, ${REFUSED[name] ?? "which is not supported"}`
    }
    const wrong = VALUES[name]?.(value) ?? null
    if (wrong !== null) return wrong
  }
  return wrongPlace(uri)
}
