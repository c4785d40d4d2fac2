/** The keys of an object in the order of their UTF-16 code units. Many are sorted a piece at a time. */

/** Of so few keys each is put among those before it in half the time that `sort` takes; of many in their square. */
const FEW = 24

/** Where the keys stand, by their UTF-16 code units. */
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

/** Keys that are sorted in one go. */
const RUN = 1_024

/** The sorting of many keys: of runs, which are merged to ever longer ones. */
export class KeySort {
  readonly #keys: ReadonlyArray<string>
  /** Places of keys: as they are, and as they are being merged. */
  #from: Uint32Array
  #to: Uint32Array
  /** Of each sorted run; 0 while they are still to be made. */
  #width = 0
  /** Where the two runs begin that are being merged, and how far each of them is. */
  #start = 0
  #left = 0
  #right = 0

  constructor(keys: ReadonlyArray<string>) {
    this.#keys = keys
    this.#from = new Uint32Array(keys.length)
    this.#to = new Uint32Array(keys.length)
  }

  /** Compares about so many times; undefined where that was not enough. */
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

  /** All is in runs that are twice as wide. */
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
