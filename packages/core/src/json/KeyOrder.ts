/** The keys of an object in the order of their UTF-16 code units. Many keys are sorted in pieces. */

/** Up to this many keys, insertion sort takes half the time of `sort`; for many keys its time is quadratic. */
const FEW = 24

/** The indexes of the keys in the order of their UTF-16 code units. */
export const inKeyOrder = (keys: ReadonlyArray<string>): ReadonlyArray<number> => {
  if (keys.length > FEW) return [...keys.keys()].sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1))
  const places: Array<number> = []
  for (let place = 0; place < keys.length; place++) {
    let at = place
    while (at > 0 && keys[places[at - 1]!]! > keys[place]!) {
      places[at] = places[at - 1]!
      at--
    }
    places[at] = place
  }
  return places
}

/** How many keys are sorted in one step. */
const RUN = 1_024

/** Sorts many keys by merge sort: sorted runs are merged into longer and longer ones. */
export class KeySort {
  readonly #keys: ReadonlyArray<string>
  /** Indexes of keys: in their current order, and the target of the current merge. */
  #from: Uint32Array
  #to: Uint32Array
  /** The length of each sorted run; 0 until the first runs are sorted. */
  #width = 0
  /** Where the two runs being merged begin, and how far each has been read. */
  #start = 0
  #left = 0
  #right = 0

  constructor(keys: ReadonlyArray<string>) {
    this.#keys = keys
    this.#from = new Uint32Array(keys.length)
    this.#to = new Uint32Array(keys.length)
  }

  /** Makes about this many comparisons; returns undefined if more are needed. */
  advance(compares: number): Iterable<string> | undefined {
    const count = this.#keys.length
    for (let left = compares; left > 0;) {
      if (this.#width >= count) return this.#ordered()
      left -= this.#width === 0 ? this.#sortRun() : this.#merge(left)
      if (this.#start >= count) this.#widen()
    }
    return undefined
  }

  *#ordered(): Generator<string> {
    for (const place of this.#from) yield this.#keys[place]!
  }

  #sortRun(): number {
    const start = this.#start
    const run = inKeyOrder(this.#keys.slice(start, start + RUN))
    for (const [at, place] of run.entries()) this.#to[start + at] = start + place
    this.#start += RUN
    return RUN * 10
  }

  #merge(most: number): number {
    const keys = this.#keys
    const [from, to] = [this.#from, this.#to]
    const middle = Math.min(this.#start + this.#width, keys.length)
    const end = Math.min(middle + this.#width, keys.length)
    let [left, right] = [this.#left, this.#right]
    let moved = 0
    for (; moved < most && (left < middle || right < end); moved++) {
      const isLeft = right === end || (left < middle && keys[from[left]!]! < keys[from[right]!]!)
      to[left + right - middle] = from[isLeft ? left++ : right++]!
    }
    this.#left = left
    this.#right = right
    if (left === middle && right === end) this.#beginAt(end)
    return Math.max(moved, 1)
  }

  /** All runs of the current length are merged into runs of twice the length. */
  #widen(): void {
    ;[this.#from, this.#to] = [this.#to, this.#from]
    this.#width = this.#width === 0 ? RUN : this.#width * 2
    this.#beginAt(0)
  }

  #beginAt(start: number): void {
    this.#start = start
    this.#left = start
    this.#right = Math.min(start + this.#width, this.#keys.length)
  }
}
