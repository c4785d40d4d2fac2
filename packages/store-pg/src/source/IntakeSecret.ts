/** The secret in an intake address. It is looked up by its hash. */
import { hash, randomBytes } from "node:crypto"

export const newSecret = (): string => randomBytes(24).toString("base64url")
export const secretHash = (secret: string): Buffer => hash("sha256", secret, "buffer")
