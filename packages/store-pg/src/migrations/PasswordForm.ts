/**
 * How a role's password is sent to PostgreSQL: in its stored form (a SCRAM verifier), so that the password itself is in
 * no statement that a server may log. Some services refuse that, because their control plane keeps the passwords (Neon,
 * Lakebase; at the commit, and not before): then the text is sent, and only where nobody can listen and the server has
 * proved who it is.
 */
import { Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { isVerified } from "../connection/DatabaseUrlTls.ts"
import { parseDatabaseUrl } from "../connection/DatabaseUrl.ts"
import { sqlMessage } from "../connection/SqlState.ts"
import { scramVerifier } from "./ScramVerifier.ts"

export type PasswordForm = "verifier" | "text"

/** The literal to follow `PASSWORD`. Every password is one that we generated: base64url. */
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
  // Not supported: the connection is sound, and retrying does not help.
  const cause = Object.assign(new Error(message), { code: "0A000" })
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message, operation: "execute" }) })
}

/** Does the whole work, transactions and all, once more with the text of the password if the verifier is refused. */
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
