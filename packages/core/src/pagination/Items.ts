/** The items of a page as JSON in UTF-8, written once and sent without copying: contiguous, separated by commas. */
export class Items {
  readonly #bytes: Buffer
  readonly #from: number
  readonly #ends: ReadonlyArray<number>
  #release: ((bytes: Buffer) => void) | undefined

  /**
   * The items are in `bytes` starting at `from`; `ends` has the end of each. The bytes around them belong to this object
   * alone, until it is released.
   */
  constructor(bytes: Buffer, from: number, ends: ReadonlyArray<number>, release?: (bytes: Buffer) => void) {
    this.#bytes = bytes
    this.#from = from
    this.#ends = ends
    this.#release = release
  }

  /** The number of items. */
  get length(): number {
    return this.#ends.length
  }

  /** The length of the items in bytes, with the commas between them. */
  get byteLength(): number {
    return (this.#ends.at(-1) ?? this.#from) - this.#from
  }

  /** At most this many of the items. */
  first(most: number): Items {
    return this.length <= most ? this : new Items(this.#bytes, this.#from, this.#ends.slice(0, most))
  }

  /** Each item as text. */
  texts(): ReadonlyArray<string> {
    return this.#ends.map((end, index) =>
      this.#bytes.toString("utf8", index === 0 ? this.#from : this.#ends[index - 1]! + 1, end),
    )
  }

  /** All items between a head and a tail; without a copy if there is room around them. */
  between(head: Uint8Array, tail: Uint8Array): Uint8Array {
    const end = this.#ends.at(-1) ?? this.#from
    if (this.#from < head.length || this.#bytes.length - end < tail.length) {
      return Buffer.concat([head, this.#bytes.subarray(this.#from, end), tail])
    }
    this.#bytes.set(head, this.#from - head.length)
    this.#bytes.set(tail, end)
    return this.#bytes.subarray(this.#from - head.length, end + tail.length)
  }

  /** Gives the bytes back: nothing may use them any more, neither as items nor as what `between` returned. */
  release(): void {
    this.#release?.(this.#bytes)
    this.#release = undefined
  }
}

/** Separates two items. */
export const COMMA = 0x2c

/** The room reserved around the items for the other fields of a page. */
export const AHEAD = 32
/** The room reserved after the items. */
export const BEHIND = 2_048

/** No items. All empty pages share it, so it reserves no room for the other fields of a page. */
export const NO_ITEMS = new Items(Buffer.alloc(0), 0, [])
