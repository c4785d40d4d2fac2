/**
 * Buffers the bytes of a body as they arrive. A single chunk is passed on without a copy; small ones are written into
 * one growing buffer, so that a client that sends single bytes costs those bytes and not an object for each.
 */
export class ChunkBuffer {
  #only: Uint8Array | undefined
  #buffer = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    if (this.#length === 0) this.#only = chunk
    else {
      if (this.#only !== undefined) {
        this.#grow(this.#only.byteLength + chunk.byteLength)
        this.#buffer.set(this.#only)
        this.#only = undefined
      } else this.#grow(this.#length + chunk.byteLength)
      this.#buffer.set(chunk, this.#length)
    }
    this.#length += chunk.byteLength
  }

  /** All bytes so far; no more may be added. */
  bytes(): Uint8Array {
    return this.#only ?? this.#buffer.subarray(0, this.#length)
  }

  #grow(needed: number): void {
    if (needed <= this.#buffer.byteLength) return
    const wider = new Uint8Array(Math.max(needed, this.#buffer.byteLength * 2, 1024))
    wider.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = wider
  }
}
