/**
 * The keys of the advisory locks that equal bodies queue on. Anybody in the database may take an advisory lock, so a key
 * must not be known before the body is under way: it is enciphered with a secret that lies in schema `cabinet`.
 */
import { createCipheriv } from "node:crypto"

/** The secret, in hexadecimal, as a subquery. */
export const BODY_SECRET = "(SELECT encode(bytes, 'hex') FROM cabinet.secret WHERE purpose = 'body locks')"

/** Bodies side by side: of which source each is, and its fingerprint in hexadecimal. */
export interface Bodies {
  readonly sourceId: ReadonlyArray<number>
  readonly fingerprint: ReadonlyArray<string>
}

/** One key a body, equal for equal bodies of one source. */
export type BodyKeys = (bodies: Bodies) => BigInt64Array

/** Of a fingerprint's 32 bytes; half of them tell bodies apart as well. */
const BLOCK = 16

/** Takes the secret's 32 bytes in hexadecimal. All of a batch is one call of the cipher, and ECB keeps no state between calls. */
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
