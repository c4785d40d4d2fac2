/**
 * Finds PostgreSQL's messages in a connection's bytes, however these are split. A message that lies complete in a chunk
 * is read in place; only a split one is assembled, in a reused buffer. A message without a reader, or over the limit of
 * its kind, is skipped and not kept.
 */

/**
 * The received bytes are not PostgreSQL's protocol, or not the requested response: the connection is useless from then
 * on.
 */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError"
}

/** The consumer of the messages. */
export interface FrameConsumer {
  /** The most bytes that a body of this type may have. */
  readonly mostBytes: (type: number) => number
  /** Reads a message's body. Returns false if the next message is not for this consumer. */
  readonly read: (type: number, bytes: DataView, start: number, end: number) => boolean
  /** Called for a message that exceeds the size limit and is skipped. */
  readonly skipped: (type: number) => void
}

/** The type of a message, and its length, which counts itself but not the type. */
const HEAD_BYTES = 5

/** The buffer's usual size, and the largest that is kept between two uses. */
const USUAL_BYTES = 16_384
const MOST_KEPT_BYTES = 1024 * 1024

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length)

export class FrameReader {
  /** The beginning of a message whose rest has not arrived. */
  #held = new Uint8Array(USUAL_BYTES)
  #heldBytes = 0
  /** How many bytes of a skipped message are still to come. */
  #toSkip = 0

  /** Passes each complete message to the consumer. Returns the position after the last one read. */
  push(chunk: Uint8Array, consumer: FrameConsumer): number {
    const view = viewOf(chunk)
    const end = chunk.length
    let at = 0
    while (at < end) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, end - at)
        this.#toSkip -= skipped
        at += skipped
      } else if (this.#heldBytes === 0 && end - at >= HEAD_BYTES) {
        const type = view.getUint8(at)
        const whole = wholeBytes(view, at)
        if (isTooLong(type, whole, consumer)) this.#toSkip = whole
        else if (end - at < whole) {
          this.#makeRoom(whole)
          at = this.#hold(chunk, at, whole)
        } else {
          at += whole
          if (!consumer.read(type, view, at - whole + HEAD_BYTES, at)) return at
        }
      } else {
        if (this.#heldBytes < HEAD_BYTES) at = this.#hold(chunk, at, HEAD_BYTES)
        if (this.#heldBytes < HEAD_BYTES) return at
        const head = viewOf(this.#held)
        const type = head.getUint8(0)
        const whole = wholeBytes(head, 0)
        if (this.#heldBytes === HEAD_BYTES && isTooLong(type, whole, consumer)) {
          this.#heldBytes = 0
          this.#toSkip = whole - HEAD_BYTES
          continue
        }
        this.#makeRoom(whole)
        at = this.#hold(chunk, at, whole)
        if (this.#heldBytes < whole) return at
        this.#heldBytes = 0
        if (!consumer.read(type, viewOf(this.#held), HEAD_BYTES, whole)) return at
      }
    }
    return at
  }

  /** To be called between two uses: a buffer that grew for a long message is given back. */
  rest(): void {
    if (this.#held.length > MOST_KEPT_BYTES) this.#held = new Uint8Array(USUAL_BYTES)
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#held.length) return
    const longer = new Uint8Array(bytes)
    longer.set(this.#held.subarray(0, this.#heldBytes))
    this.#held = longer
  }

  /** Buffers bytes of the chunk until it has the given number. Returns the position after them. */
  #hold(chunk: Uint8Array, at: number, bytes: number): number {
    const next = Math.min(chunk.length, at + bytes - this.#heldBytes)
    this.#held.set(chunk.subarray(at, next), this.#heldBytes)
    this.#heldBytes += next - at
    return next
  }
}

const wholeBytes = (view: DataView, at: number): number => {
  const length = view.getInt32(at + 1)
  if (length < HEAD_BYTES - 1) throw new ProtocolError(`A message has the length ${length}`)
  return length + 1
}

const isTooLong = (type: number, whole: number, consumer: FrameConsumer): boolean => {
  if (whole - HEAD_BYTES <= consumer.mostBytes(type)) return false
  consumer.skipped(type)
  return true
}
