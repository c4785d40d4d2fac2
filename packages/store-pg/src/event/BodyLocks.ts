/**
 * The keys of the advisory locks that serialize equal bodies. Any session of the database may take an advisory lock, so a
 * key must not be predictable before its body is in flight: it is encrypted with a secret stored in schema `cabinet`.
 */
import { createCipheriv } from "node:crypto"

/** A subquery that returns the secret in hexadecimal. */
export const BODY_SECRET = "(SELECT encode(bytes, 'hex') FROM cabinet.secret WHERE purpose = 'body locks')"

/** Bodies as parallel arrays: each one's source, and its fingerprint in hexadecimal. */
export interface Bodies {
  readonly sourceId: ReadonlyArray<number>
  readonly fingerprint: ReadonlyArray<string>
}

/** Returns one key per body, equal for equal bodies of one source. */
export type BodyKeys = (bodies: Bodies) => BigInt64Array

/** Bytes used of a fingerprint's 32; half of them distinguish bodies just as well. */
const BLOCK = 16

/**
 * Takes the secret's 32 bytes in hexadecimal. A whole batch is one call of the cipher; ECB keeps no state between calls.
 */
export const bodyKeys = (secret: string): BodyKeys => {
  const cipher = createCipheriv("aes-256-ecb", Buffer.from(secret, "hex"), null).setAutoPadding(false)
  return ({ sourceId, fingerprint }) => {
    const words = new Uint32Array(fingerprint.length * (BLOCK / 4))
    const blocks = Buffer.from(words.buffer)
    for (const [index, print] of fingerprint.entries()) {
      blocks.write(print, index * BLOCK, BLOCK, "hex")
      const source = sourceId[index]!
      words[index * 4]! ^= source % 2 ** 32
      words[index * 4 + 1]! ^= source / 2 ** 32
    }
    const enciphered = cipher.update(blocks)
    return BigInt64Array.from(fingerprint, (_, index) => enciphered.readBigInt64LE(index * BLOCK))
  }
}
