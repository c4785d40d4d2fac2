/**
 * The TLS settings of a database URL, as libpq reads them: `sslmode`, the authorities of `sslrootcert`, and a
 * certificate of our own. One difference: verify-full without `sslrootcert` trusts the authorities that Node trusts, as
 * for any address on the web, where libpq would refuse.
 */
import { readFileSync, statSync } from "node:fs"
import { isIP } from "node:net"
import * as Tls from "node:tls"
import { Result } from "effect"
import type { SslMode } from "./DatabaseUrlParameters.ts"

/** How a connection is protected from eavesdropping and impersonation. */
export interface Encryption {
  readonly mode: SslMode
  /** A file of PEM certificates, or `system`. */
  readonly rootCertificate: string | null
  /** The files of our own certificate and its key. */
  readonly own: { readonly cert: string; readonly key: string; readonly passphrase: string | undefined } | null
}

/** Whether the server's certificate is checked against an authority. */
export const isVerified = ({ mode, rootCertificate }: Encryption): boolean =>
  mode === "verify-full" || mode === "verify-ca" || (mode === "require" && rootCertificate !== null)

const atLeastRequire = (mode: SslMode): boolean => mode === "require" || mode.startsWith("verify")

/** The encryption of a URL with these parameters, or the end of the sentence "it must be …". */
export const encryptionOf = (
  parameters: ReadonlyMap<string, string>,
  isOnSocket: boolean,
): Result.Result<Encryption, string> => {
  const [root, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => parameters.get(name) ?? null) as [
    string | null,
    string | null,
    string | null,
  ]
  const given = (parameters.get("sslmode") as SslMode | undefined) ?? "disable"
  if (isOnSocket && atLeastRequire(given)) {
    return Result.fail("a URL without sslmode: the host is the directory of a Unix socket, which has no TLS")
  }
  if (root === "") return Result.fail("a URL whose sslrootcert is the name of a file, or system")
  if (!atLeastRequire(given) && root !== null) {
    return Result.fail("a URL whose sslmode is verify-full if it has sslrootcert")
  }
  if (given === "verify-ca" && root === null) {
    return Result.fail("a URL with sslrootcert if its sslmode is verify-ca: it names the authority to trust")
  }
  if (root === "system" && given !== "verify-full") {
    return Result.fail(
      "a URL whose sslmode is verify-full if its sslrootcert is system: public authorities sign for any host",
    )
  }
  if ((cert === null || cert === "") !== (key === null || key === "")) {
    return Result.fail("a URL with both sslcert and sslkey, or with neither")
  }
  if (cert !== null && key !== null && !atLeastRequire(given)) {
    return Result.fail("a URL whose sslmode is verify-full if it has sslcert: client certificates need TLS")
  }
  const own = cert === null || key === null ? null : { cert, key, passphrase: parameters.get("sslpassword") }
  if (own === null && parameters.has("sslpassword")) return Result.fail("a URL with sslkey if it has sslpassword")
  return Result.succeed({ mode: isOnSocket ? "disable" : given, rootCertificate: root, own })
}

const readPem = (file: string, kind: "CERTIFICATE" | "PRIVATE KEY"): string => {
  const text = readFileSync(file, "utf8")
  if (!new RegExp(`-----BEGIN (?:[A-Z]+ )?${kind}-----`).test(text)) throw new Error(`${file} holds none`)
  return text
}

const authorities = (from: string): ReadonlyArray<string> =>
  from === "system" ? Tls.getCACertificates("system") : [readPem(from, "CERTIFICATE")]

/** Like libpq, refuses a private key that other users can read. */
const privateKey = (file: string): string => {
  const { mode, uid } = statSync(file)
  const open = uid === 0 && process.getuid?.() !== 0 ? 0o037 : 0o077
  if (process.platform !== "win32" && (mode & open) !== 0) {
    throw new Error(`other users can read ${file}: run chmod 600 on it`)
  }
  return readPem(file, "PRIVATE KEY")
}

const labelled = <A>(name: string, read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw new Error(`the file of ${name} cannot be used: ${cause instanceof Error ? cause.message : "unknown"}`, {
      cause,
    })
  }
}

/**
 * The options of TLS, for any host; false if the connection is never encrypted.
 * @throws if a file cannot be read
 */
export const tlsOptions = ({ mode, rootCertificate, own }: Encryption): false | Tls.ConnectionOptions => {
  if (mode === "disable") return false
  const { cert, key, passphrase } = own ?? {}
  const ours = {
    ...(cert === undefined ? {} : { cert: labelled("sslcert", () => readPem(cert, "CERTIFICATE")) }),
    ...(key === undefined ? {} : { key: labelled("sslkey", () => privateKey(key)) }),
    ...(passphrase === undefined ? {} : { passphrase }),
  }
  if (rootCertificate === null) return mode === "verify-full" ? ours : { ...ours, rejectUnauthorized: false }
  const ca = [...labelled("sslrootcert", () => authorities(rootCertificate))]
  return mode === "verify-full" ? { ...ours, ca } : { ...ours, ca, checkServerIdentity: () => undefined }
}

/** The same for one host of several: its certificate is checked for its own name. */
export const forHost = (options: Tls.ConnectionOptions, host: string): Tls.ConnectionOptions => ({
  ...options,
  host,
  ...(isIP(host) === 0 ? { servername: host } : {}),
})
