/**
 * The address of a database, `postgres://user:password@host:port/database?parameters`. Every parameter is honoured as
 * libpq would, or rejected with a message that names it: silently ignoring one could send a password in clear text, or
 * read as another user than was meant. No message shows a value, because a mistyped one may be part of the password.
 *
 * Of the parameters that libpq knows, those that the driver does not support are rejected, and so are those that would
 * conflict with the roles and databases derived from the address: a login or a database among the parameters.
 */
import { readFileSync } from "node:fs"
import * as Tls from "node:tls"
import { Effect, Redacted, Result } from "effect"
import { SqlError } from "effect/sql"

const FORM = "an address such as postgres://user:password@host:5432/database"

/** How a connection is protected from eavesdropping and impersonation. */
interface Encryption {
  readonly mode: "disable" | "require" | "verify-ca" | "verify-full"
  /** A file of PEM certificates, or `system`. */
  readonly rootCertificate: string | null
}

const MODES = ["disable", "require", "verify-ca", "verify-full"] as const

/** Parameters accepted only with the one value that describes what is done anyway. */
const FIXED: Readonly<Record<string, string>> = {
  channel_binding: "disable",
  client_encoding: "UTF8",
  gssencmode: "disable",
  load_balance_hosts: "disable",
  sslcompression: "0",
  sslnegotiation: "postgres",
  sslsni: "1",
  target_session_attrs: "any",
}

/** The reason for rejecting a parameter, if there is more to say than that it is not honoured. */
const REFUSED: Readonly<Record<string, string>> = {
  application_name: "since a cabinet names its sessions itself",
  connect_timeout: "since a cabinet has time limits of its own",
  dbname: "which belongs behind the host: postgres://host/database",
  password: "which belongs before the host: postgres://user:password@host/database",
  user: "which belongs before the host: postgres://user@host/database",
}

/** Read by the driver itself, or passed to PostgreSQL unchanged. */
const DRIVERS: ReadonlyArray<string> = ["host", "options", "port"]
const OURS: ReadonlyArray<string> = ["ssl", "sslmode", "sslrootcert"]

/** The name of a parameter may be shown unless it could be the part of a password after a question mark. */
const shown = (url: URL, name: string): string =>
  /^[a-z_]{1,40}$/i.test(name) && !url.search.includes("@") ? ` ${name}` : ""

const wrongParameters = (url: URL): string | null => {
  const names = [...url.searchParams.keys()]
  for (const [name, value] of url.searchParams) {
    if (names.filter((other) => other === name).length > 1) {
      return `an address with the parameter${shown(url, name)} once`
    }
    const fixed = FIXED[name]
    if (fixed !== undefined && value.toLowerCase() !== fixed.toLowerCase()) {
      return `an address without ${name}, or with ${name}=${fixed}: nothing else is honoured here`
    }
    if (fixed !== undefined || DRIVERS.includes(name) || OURS.includes(name)) continue
    return `an address without the parameter${shown(url, name)}, ${REFUSED[name] ?? "which is not honoured here"}`
  }
  const port = url.searchParams.get("port")
  if (port !== null && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    return "an address whose port is a number from 1 to 65535"
  }
  const host = url.searchParams.get("host")
  return host === null || host.startsWith("/") || /^[0-9a-z._:-]+$/i.test(host)
    ? null
    : "an address whose host is one name, one address or the directory of a socket"
}

/** Returns the encryption that the address asks for, or the end of a sentence that says what the address should ask for. */
const encryptionOf = (url: URL): Result.Result<Encryption, string> => {
  const [ssl, sslmode, rootCertificate] = OURS.map((name) => url.searchParams.get(name)) as [
    string | null,
    string | null,
    string | null,
  ]
  if (ssl !== null && ssl !== "true") {
    return Result.fail("an address without ssl, or with ssl=true, which is sslmode=require")
  }
  if (ssl !== null && sslmode !== null) return Result.fail("an address with ssl or sslmode, not with both")
  const mode = MODES.find((known) => known === (sslmode ?? (ssl === null ? "disable" : "require")))
  if (mode === undefined) {
    const clear = "with prefer and allow it could be clear text, and nobody would notice"
    return Result.fail(`an address whose sslmode is one of ${MODES.join(", ")} (${clear})`)
  }
  const onSocket = (url.searchParams.get("host") ?? decodeURIComponent(url.hostname)).startsWith("/")
  if (mode !== "disable" && onSocket) {
    return Result.fail("an address without sslmode and ssl: the host is a socket's directory, and a socket has no TLS")
  }
  if (rootCertificate === "") return Result.fail("an address whose sslrootcert is the name of a file, or system")
  if (mode === "disable" && rootCertificate !== null) {
    return Result.fail("an address with sslmode=verify-full beside sslrootcert, or without both")
  }
  if (mode === "verify-ca" && rootCertificate === null) {
    return Result.fail("an address with sslrootcert beside sslmode=verify-ca: which authority is to be believed?")
  }
  if (rootCertificate === "system" && mode !== "verify-full") {
    return Result.fail("an address with sslmode=verify-full beside sslrootcert=system: those sign for anybody's host")
  }
  return Result.succeed({ mode, rootCertificate })
}

/** Returns the normalized address, or the end of the sentence "it must be …". */
export const readAddress = (given: string): Result.Result<string, string> => {
  // A login cannot be put before a missing host, and the addresses of the roles are built by doing so.
  const named = given.replace(/^(postgres(?:ql)?:)\/\/\//i, "$1//localhost/")
  const url = URL.parse(named)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) return Result.fail(FORM)
  if (url.hash !== "") return Result.fail("an address without #, which is written %23 in a password")
  if (named !== given && !url.searchParams.has("host")) return Result.fail("an address that names a host")
  for (const part of [url.username, url.password, url.hostname, url.pathname]) {
    try {
      decodeURIComponent(part)
    } catch {
      return Result.fail("an address in which every % begins the code of a character, such as %25 for % itself")
    }
  }
  const wrong = wrongParameters(url)
  if (wrong !== null) return Result.fail(wrong)
  return Result.map(encryptionOf(url), () => named)
}

const refused = (message: string) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: new Error(message), message, operation: "connect" }),
  })

const authorities = (from: string): ReadonlyArray<string> => {
  if (from === "system") return Tls.getCACertificates("system")
  const file = readFileSync(from, "utf8")
  if (!file.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`${from} holds none`)
  return [file]
}

const tlsOptions = ({ mode, rootCertificate }: Encryption): false | Tls.ConnectionOptions => {
  if (mode === "disable") return false
  // Without a file of its own, the authorities that Node trusts, as for any address on the web.
  if (rootCertificate === null) return mode === "verify-full" ? {} : { rejectUnauthorized: false }
  const ca = [...authorities(rootCertificate)]
  return mode === "verify-full" ? { ca } : { ca, checkServerIdentity: () => undefined }
}

/**
 * The driver's options for an address, with TLS exactly as the address asks. If the address cannot be honoured or the
 * certificates cannot be read, it fails like a connection that cannot be opened, before one is tried.
 */
export const connectionOf = (
  address: string,
): Effect.Effect<{ readonly url: Redacted.Redacted; readonly ssl: false | Tls.ConnectionOptions }, SqlError.SqlError> =>
  Effect.suspend(() => {
    const read = readAddress(address)
    if (Result.isFailure(read)) return Effect.fail(refused(`The database's address must be ${read.failure}`))
    const encryption = encryptionOf(new URL(read.success))
    if (Result.isFailure(encryption)) return Effect.fail(refused(`The address must be ${encryption.failure}`))
    return Effect.try({
      try: () => ({ url: Redacted.make(read.success), ssl: tlsOptions(encryption.success) }),
      catch: (cause) =>
        refused(
          `the certificates of sslrootcert cannot be read: ${cause instanceof Error ? cause.message : "unknown"}`,
        ),
    })
  })
