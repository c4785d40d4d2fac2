/**
 * The key that signs cursors: HMAC-SHA-256 with a secret that only one cabinet has. Implemented with Node's hash function,
 * because every page needs one signature and this takes a fifth of the time of `createHmac`.
 */
import { hash } from "node:crypto"
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

export class CursorKey {
  readonly #inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  readonly #outer = Buffer.alloc(BLOCK_BYTES, 0x5c)

  /** A secret of at most 64 bytes. */
  constructor(secret: Uint8Array) {
    for (const [at, byte] of secret.subarray(0, BLOCK_BYTES).entries()) {
      this.#inner[at]! ^= byte
      this.#outer[at]! ^= byte
    }
  }

  sign(text: string): Buffer {
    const message = Buffer.allocUnsafe(BLOCK_BYTES + Buffer.byteLength(text))
    this.#inner.copy(message)
    message.write(text, BLOCK_BYTES)
    const covered = Buffer.allocUnsafe(BLOCK_BYTES + DIGEST_BYTES)
    this.#outer.copy(covered)
    hash("sha256", message, "buffer").copy(covered, BLOCK_BYTES)
    return hash("sha256", covered, "buffer")
  }
}

/** The cabinet's key, stored with its data, so that cursors stay valid wherever the data is moved. */
export class CursorKeys extends Context.Service<
  CursorKeys,
  { readonly key: Effect.Effect<CursorKey, StoreUnavailable> }
>()("@data-cabinet/core/page/CursorKeys") {}
