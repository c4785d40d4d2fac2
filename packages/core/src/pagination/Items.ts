/** The items of a page as JSON in UTF-8, made once and sent as they lie: one behind the other, a comma between each two. */
export class Items {
  readonly #bytes: Buffer
  readonly #from: number
  readonly #ends: ReadonlyArray<number>

  /** They lie in `bytes` from `from` on; `ends` says where each one does. What is around them there is nobody else's. */
  constructor(bytes: Buffer, from: number, ends: ReadonlyArray<number>) {
    this.#bytes = bytes
    this.#from = from
    this.#ends = ends
  }

  /** How many there are. */
  get length(): number {
    return this.#ends.length
  }

  /** Not more than so many of them. */
  first(most: number): Items {
    return this.length <= most ? this : new Items(this.#bytes, this.#from, this.#ends.slice(0, most))
  }

  /** Each by itself. */
  texts(): ReadonlyArray<string> {
    return this.#ends.map((end, index) =>
      this.#bytes.toString("utf8", index === 0 ? this.#from : this.#ends[index - 1]! + 1, end),
    )
  }

  /** All of them between a head and a tail; not copied where there is room around them. */
  between(head: Uint8Array, tail: Uint8Array): Uint8Array {
    const end = this.#ends.at(-1) ?? this.#from
    if (this.#from < head.length || this.#bytes.length - end < tail.length) {
      return Buffer.concat([head, this.#bytes.subarray(this.#from, end), tail])
    }
    this.#bytes.set(head, this.#from - head.length)
    this.#bytes.set(tail, end)
    return this.#bytes.subarray(this.#from - head.length, end + tail.length)
  }
}

/** Between two items. */
export const COMMA = 0x2c

/** Room that is left around items for what a page says of itself. */
export const AHEAD = 32
export const BEHIND = 2_048

/** Has no room around it: all empty pages share it. */
export const NO_ITEMS = new Items(Buffer.alloc(0), 0, [])
