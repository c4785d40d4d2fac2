/**
 * Computes what PostgreSQL stores for a password (RFC 5803), so that no statement that a server may log contains the
 * password itself.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"

const ITERATIONS = 4096

/** The verifier of an ASCII password, which needs no SASLprep. */
export const scramVerifier = (password: string): string => {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256")
  const hmac = (text: string) => createHmac("sha256", salted).update(text).digest()
  const storedKey = createHash("sha256").update(hmac("Client Key")).digest("base64")
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${hmac("Server Key").toString("base64")}`
}
