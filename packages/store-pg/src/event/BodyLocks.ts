/**
 * The keys of the advisory locks that serialize equal bodies. Any session of the database may take an advisory lock, so a
 * key must not be predictable before its body is in flight: it is encrypted with a secret stored in schema `cabinet`.
 */
import { createCipheriv } from "node:crypto"

/** A subquery that returns the secret in hexadecimal. */
export const BODY_SECRET = "(SELECT encode(bytes, 'hex') FROM cabinet.secret WHERE purpose = 'body locks')"

export interface Body {
  readonly sourceId: number
  /** Hexadecimal. */
  readonly fingerprint: string
}

/** Returns one key per body, equal for equal bodies of one source. */
export type BodyKeys = (bodies: ReadonlyArray<Body>) => BigInt64Array

/** How many of a fingerprint's 32 bytes are used; half of them distinguish bodies just as well. */
const BLOCK_BYTES = 16

/**
 * Takes the secret's 32 bytes in hexadecimal. A whole batch is one call of the cipher; ECB keeps no state between calls.
 */
export const bodyKeys = (secret: string): BodyKeys => {
  const cipher = createCipheriv("aes-256-ecb", Buffer.from(secret, "hex"), null).setAutoPadding(false)
  return (bodies) => {
    const words = new Uint32Array(bodies.length * (BLOCK_BYTES / 4))
    const blocks = Buffer.from(words.buffer)
    for (const [index, { sourceId, fingerprint }] of bodies.entries()) {
      blocks.write(fingerprint, index * BLOCK_BYTES, BLOCK_BYTES, "hex")
      words[index * 4]! ^= sourceId % 2 ** 32
      words[index * 4 + 1]! ^= sourceId / 2 ** 32
    }
    const enciphered = cipher.update(blocks)
    return BigInt64Array.from(bodies, (_, index) => enciphered.readBigInt64LE(index * BLOCK_BYTES))
  }
}
