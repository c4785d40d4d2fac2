/**
 * How a role's password is sent to PostgreSQL: in its stored form, a SCRAM verifier, so that no statement that a server
 * may log contains the password. Some services (Neon, Lakebase) refuse verifiers, because their control plane keeps the
 * passwords; they do so only at the commit. Such a service gets the clear text, but only over an encrypted connection to a
 * server that has proved its identity.
 */
import { Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { isVerified } from "./DatabaseUrlTls.ts"
import { parseDatabaseUrl } from "./DatabaseUrl.ts"
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { sqlMessage } from "./SqlState.ts"

export type PasswordForm = "verifier" | "text"

/** The literal that follows `PASSWORD`. We generate every password, in base64url. */
export const passwordLiteral = (form: PasswordForm, password: string): string =>
  `'${form === "verifier" ? scramVerifier(password) : password.replaceAll("'", "''")}'`

const isRefused = (error: SqlError.SqlError): boolean =>
  /only supports being given plaintext passwords|password type is not a plain text/i.test(sqlMessage(error))

/** Whether a password may be sent in clear text to the server of this URL. */
export const mayCarryText = (url: string): boolean =>
  Result.match(parseDatabaseUrl(url), {
    onFailure: () => false,
    onSuccess: ({ servers, encryption }) => isVerified(encryption) || servers.every(({ host }) => host.startsWith("/")),
  })

const unverified = () => {
  const message =
    "it accepts role passwords only in plain text, which is sent over verified TLS only: add sslmode=verify-full to DATABASE_URL"
  // "Not supported": the connection is sound, and a retry would not help.
  const cause = Object.assign(new Error(message), { code: "0A000" })
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message, operation: "execute" }) })
}

/** Repeats the whole work, including its transactions, with the clear text if the verifier is refused. */
export const withPasswordForm = <A, E, R>(
  url: string,
  work: (form: PasswordForm) => Effect.Effect<A, E | SqlError.SqlError, R>,
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  work("verifier").pipe(
    Effect.catch((error) => {
      if (!SqlError.isSqlError(error) || !isRefused(error)) return Effect.fail(error)
      return mayCarryText(url) ? work("text") : Effect.fail(unverified())
    }),
  )

const ITERATIONS = 4096

/** What PostgreSQL stores for an ASCII password (RFC 5803), which needs no SASLprep. */
const scramVerifier = (password: string): string => {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256")
  const hmac = (text: string) => createHmac("sha256", salted).update(text).digest()
  const storedKey = createHash("sha256").update(hmac("Client Key")).digest("base64")
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${hmac("Server Key").toString("base64")}`
}
