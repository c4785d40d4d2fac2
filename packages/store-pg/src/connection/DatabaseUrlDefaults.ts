/**
 * Fills in the missing parts of a user's database URL, from the same places as libpq: the `PG*` variables of the
 * environment, the password file, and the files of `~/.postgresql`. What the URL itself says always takes precedence. A
 * variable with an unsupported value is refused like the parameter.
 */
import { existsSync } from "node:fs"
import { homedir, userInfo } from "node:os"
import { join } from "node:path"
import { Result } from "effect"
import { normalizeDatabaseUrl, readUri } from "./DatabaseUrl.ts"
import { formatUri, type LibpqUri } from "./LibpqUri.ts"
import { readPasswordFile, passwordIn } from "./PasswordFile.ts"

/** The variables that correspond to parameters, besides those for the login, the hosts and the database. */
const VARIABLES: ReadonlyArray<readonly [variable: string, parameter: string]> = [
  ["PGAPPNAME", "application_name"],
  ["PGCHANNELBINDING", "channel_binding"],
  ["PGCLIENTENCODING", "client_encoding"],
  ["PGCONNECT_TIMEOUT", "connect_timeout"],
  ["PGGSSENCMODE", "gssencmode"],
  ["PGHOSTADDR", "hostaddr"],
  ["PGLOADBALANCEHOSTS", "load_balance_hosts"],
  ["PGOPTIONS", "options"],
  ["PGPASSFILE", "passfile"],
  ["PGREQUIREAUTH", "require_auth"],
  ["PGREQUIREPEER", "requirepeer"],
  ["PGREQUIRESSL", "requiressl"],
  ["PGSERVICE", "service"],
  ["PGSSLCERT", "sslcert"],
  ["PGSSLCERTMODE", "sslcertmode"],
  ["PGSSLCOMPRESSION", "sslcompression"],
  ["PGSSLCRL", "sslcrl"],
  ["PGSSLCRLDIR", "sslcrldir"],
  ["PGSSLKEY", "sslkey"],
  ["PGSSLMAXPROTOCOLVERSION", "ssl_max_protocol_version"],
  ["PGSSLMINPROTOCOLVERSION", "ssl_min_protocol_version"],
  ["PGSSLMODE", "sslmode"],
  ["PGSSLNEGOTIATION", "sslnegotiation"],
  ["PGSSLROOTCERT", "sslrootcert"],
  ["PGSSLSNI", "sslsni"],
  ["PGTARGETSESSIONATTRS", "target_session_attrs"],
]

/** The use of a URL: the primary, or a standby that rows are read from. */
export type DatabaseUse = "primary" | "standby"

export interface Defaults {
  readonly env: Readonly<Record<string, string | undefined>>
  /** A file of certificates: naming one means that the server must be verified. */
  readonly certificates: string | null
  readonly use: DatabaseUse
}

type Draft = { -readonly [Key in keyof LibpqUri]: LibpqUri[Key] }

const isOnSocket = ({ hosts }: LibpqUri): boolean => hosts.some((host) => host.startsWith("/"))

const fillPlace = (draft: Draft, env: Defaults["env"]) => {
  draft.user ??= env["PGUSER"] || userInfo().username
  draft.database ??= env["PGDATABASE"] || draft.user
  if (draft.hosts.length === 0 || (draft.hosts.length === 1 && draft.hosts[0] === "")) {
    if (env["PGHOST"]) draft.hosts = env["PGHOST"].split(",")
  }
  if (draft.ports.length === 0 && env["PGPORT"]) draft.ports = env["PGPORT"].split(",")
}

const homeFile = (env: Defaults["env"], name: string): string | undefined => {
  const file = join(env["HOME"] || homedir(), ".postgresql", name)
  return existsSync(file) ? file : undefined
}

const fillParameters = (draft: Draft, { env, certificates, use }: Defaults) => {
  const all = new Map(draft.parameters)
  const fill = (name: string, value: string | undefined) => {
    if (value !== undefined && value !== "" && !all.has(name)) all.set(name, value)
  }
  const onSocket = isOnSocket(draft)
  // As in libpq, a socket ignores the environment's TLS settings.
  for (const [variable, parameter] of VARIABLES) {
    if (!(onSocket && parameter.startsWith("ssl"))) fill(parameter, env[variable])
  }
  if (!onSocket) {
    if (certificates !== null) {
      fill("sslrootcert", certificates)
      fill("sslmode", "verify-full")
    }
    fill("sslmode", "prefer")
    const mode = all.get("sslmode")!
    if (mode === "require" || mode.startsWith("verify")) {
      fill("sslrootcert", homeFile(env, "root.crt"))
      const [cert, key] = [homeFile(env, "postgresql.crt"), homeFile(env, "postgresql.key")]
      if (cert !== undefined && key !== undefined && !all.has("sslcert") && !all.has("sslkey")) {
        fill("sslcert", cert)
        fill("sslkey", key)
      }
    }
  }
  // Writes need a primary, and a separate URL for reads is meant for a standby.
  if (draft.hosts.length > 1) fill("target_session_attrs", use === "primary" ? "read-write" : "prefer-standby")
  draft.parameters = [...all]
}

const fillPassword = (draft: Draft, env: Defaults["env"]): string | null => {
  const path = draft.parameters.find(([name]) => name === "passfile")?.[1]
  draft.parameters = draft.parameters.filter(([name]) => name !== "passfile")
  if (draft.password !== undefined) return null
  if (env["PGPASSWORD"]) {
    draft.password = env["PGPASSWORD"]
    return null
  }
  const file = readPasswordFile(path ?? join(env["HOME"] || homedir(), ".pgpass"))
  if (Result.isFailure(file)) return file.failure
  if (file.success === undefined) {
    return path === undefined ? null : `a URL with a password, or a password file that exists: ${path} does not`
  }
  const text = file.success
  const passwords = draft.hosts.map((host, at) =>
    passwordIn(text, {
      host,
      port: (draft.ports[at] ?? draft.ports[0]) || "5432",
      database: draft.database!,
      user: draft.user!,
    }),
  )
  if (new Set(passwords).size > 1) return "a URL with a password: the password file has different ones for its hosts"
  draft.password = passwords[0]
  return null
}

const wrongUse = (draft: Draft, use: DatabaseUse): string | null => {
  const wanted = draft.parameters.find(([name]) => name === "target_session_attrs")?.[1] ?? "any"
  return use === "primary" && /standby|read-only/.test(wanted)
    ? "a URL whose target_session_attrs is read-write, primary or any: a standby cannot be written to"
    : null
}

/**
 * The complete URL, as `normalizeDatabaseUrl` returns it, for a user's URL that `readUri` accepts. Fails with the end
 * of the sentence "it must be …".
 */
export const completeDatabaseUrl = (given: string, defaults: Defaults): Result.Result<string, string> =>
  Result.flatMap(readUri(given), (uri) => {
    const draft: Draft = { ...uri }
    fillPlace(draft, defaults.env)
    // libpq would use a socket in its compiled-in directory, which is unknown here.
    if (draft.hosts.length === 0 || draft.hosts[0] === "") return Result.fail("a URL that names a host")
    fillParameters(draft, defaults)
    const wrong = fillPassword(draft, defaults.env) ?? wrongUse(draft, defaults.use)
    if (wrong !== null) return Result.fail(wrong)
    const isSame = JSON.stringify(draft) === JSON.stringify(uri)
    return normalizeDatabaseUrl(isSame ? given : formatUri(draft))
  })
