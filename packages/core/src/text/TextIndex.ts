/**
 * Searches one text for thousands of others: all places of the text are sorted by what follows them, once, and a search is then
 * hardly more than reading what is sought.
 */
import { containsText } from "./ContainsText.ts"

/** What follows a place is compared up to this length; longer texts are sought without the order. */
const COMPARED = 4_096

/** Consecutive numbers for the characters of a text, in their order. */
const numbered = (text: string): { readonly ranks: Int32Array; readonly count: number } => {
  const places = new Map<number, number>()
  for (let at = 0; at < text.length; at++) places.set(text.charCodeAt(at), 0)
  for (const [rank, unit] of [...places.keys()].sort((a, b) => a - b).entries()) places.set(unit, rank)
  const ranks = new Int32Array(text.length)
  for (let at = 0; at < text.length; at++) ranks[at] = places.get(text.charCodeAt(at))!
  return { ranks, count: places.size }
}

/** Writes the places of `from` into `into`, in the order of their ranks; those of one rank keep their order. */
const sortByRank = (from: Int32Array, into: Int32Array, ranks: Int32Array, count: number): void => {
  const ends = new Int32Array(count)
  for (let at = 0; at < ranks.length; at++) ends[ranks[at]!]!++
  for (let rank = 1; rank < count; rank++) ends[rank]! += ends[rank - 1]!
  for (let at = from.length - 1; at >= 0; at--) into[--ends[ranks[from[at]!]!]!] = from[at]!
}

/** Sorts by one character, then by twice as many each time: the second half of what is compared has a rank already. */
const sortedPlaces = (text: string): Int32Array => {
  const { length } = text
  let { ranks, count } = numbered(text)
  let next: Int32Array = new Int32Array(length)
  const [order, shifted] = [new Int32Array(length), Int32Array.from({ length }, (_, at) => at)]
  sortByRank(shifted, order, ranks, count)
  for (let half = 1; half < COMPARED && count < length; half *= 2) {
    let filled = 0
    for (let at = Math.max(0, length - half); at < length; at++) shifted[filled++] = at
    for (let at = 0; at < length; at++) if (order[at]! >= half) shifted[filled++] = order[at]! - half
    sortByRank(shifted, order, ranks, count)
    const second = (place: number): number => (place + half < length ? ranks[place + half]! : -1)
    count = 0
    for (let at = 0; at < length; at++) {
      const [place, before] = [order[at]!, order[at - 1]!]
      if (at > 0 && (ranks[place] !== ranks[before] || second(place) !== second(before))) count++
      next[place] = count
    }
    count++
    ;[ranks, next] = [next, ranks]
  }
  return order
}

/** Takes about a second for a megabyte. */
export class TextIndex {
  readonly #text: string
  readonly #places: Int32Array

  constructor(text: string) {
    this.#text = text
    this.#places = sortedPlaces(text)
  }

  /** The same as `text.includes(sought)`. */
  contains(sought: string): boolean {
    if (sought.length > COMPARED) return containsText(this.#text, sought)
    const [text, places] = [this.#text, this.#places]
    let [low, high] = [0, places.length]
    // How many characters of `sought` both the last smaller and the last greater place begin with.
    let [below, above] = [0, 0]
    while (low < high) {
      const middle = (low + high) >>> 1
      const place = places[middle]!
      let same = Math.min(below, above)
      while (same < sought.length && text.charCodeAt(place + same) === sought.charCodeAt(same)) same++
      if (same === sought.length) return true
      if (place + same < text.length && text.charCodeAt(place + same) > sought.charCodeAt(same)) {
        high = middle
        above = same
      } else {
        low = middle + 1
        below = same
      }
    }
    return sought === ""
  }
}
