/**
 * Searches one text for thousands of others: all places of the text are sorted by what follows them, once, and a search is then
 * hardly more than reading what is sought.
 */
import { containsText } from "./ContainsText.ts"

/** What follows a place is compared up to this length; longer texts are sought without the order. */
const COMPARED = 4_096

/** Steps of one piece, which take about a millisecond. */
const PIECE = 32_768

/** Yields between the pieces of a loop. */
function* inPieces(length: number, piece: (from: number, to: number) => void): Generator<void> {
  for (let from = 0; from < length; from += PIECE) {
    piece(from, Math.min(from + PIECE, length))
    yield
  }
}

/** Consecutive numbers for the characters of a text, in their order. */
function* numbered(text: string): Generator<void, { readonly ranks: Int32Array; readonly count: number }> {
  const places = new Map<number, number>()
  yield* inPieces(text.length, (from, to) => {
    for (let at = from; at < to; at++) places.set(text.charCodeAt(at), 0)
  })
  for (const [rank, unit] of [...places.keys()].sort((a, b) => a - b).entries()) places.set(unit, rank)
  const ranks = new Int32Array(text.length)
  yield* inPieces(text.length, (from, to) => {
    for (let at = from; at < to; at++) ranks[at] = places.get(text.charCodeAt(at))!
  })
  return { ranks, count: places.size }
}

/** Writes the places of `from` into `into`, in the order of their ranks; those of one rank keep their order. */
function* sortByRank(from: Int32Array, into: Int32Array, ranks: Int32Array, count: number): Generator<void> {
  const { length } = from
  const ends = new Int32Array(count)
  yield* inPieces(length, (first, end) => {
    for (let at = first; at < end; at++) ends[ranks[at]!]!++
  })
  for (let rank = 1; rank < count; rank++) ends[rank]! += ends[rank - 1]!
  yield* inPieces(length, (first, end) => {
    for (let at = length - 1 - first; at >= length - end; at--) into[--ends[ranks[from[at]!]!]!] = from[at]!
  })
}

/** The places in order of what follows `half` characters later, from those that are in order already. */
function* shiftedBy(half: number, order: Int32Array, into: Int32Array): Generator<void> {
  let filled = 0
  for (let at = Math.max(0, order.length - half); at < order.length; at++) into[filled++] = at
  yield* inPieces(order.length, (from, to) => {
    for (let at = from; at < to; at++) if (order[at]! >= half) into[filled++] = order[at]! - half
  })
}

/** Writes new ranks, for twice as many characters, into `next`; returns how many there are. */
function* rerank(half: number, order: Int32Array, ranks: Int32Array, next: Int32Array): Generator<void, number> {
  let last = 0
  yield* inPieces(order.length, (from, to) => {
    for (let at = from; at < to; at++) {
      const [place, before] = [order[at]!, order[at - 1]!]
      if (at > 0 && (ranks[place] !== ranks[before] || rankAt(ranks, place + half) !== rankAt(ranks, before + half)))
        last++
      next[place] = last
    }
  })
  return last + 1
}

/** Sorts by one character, then by twice as many each time: the second half of what is compared has a rank already. */
function* sortedPlaces(text: string): Generator<void, Int32Array> {
  const { length } = text
  let { ranks, count } = yield* numbered(text)
  let next: Int32Array = new Int32Array(length)
  const [order, shifted] = [new Int32Array(length), new Int32Array(length)]
  for (let at = 0; at < length; at++) shifted[at] = at
  yield* sortByRank(shifted, order, ranks, count)
  for (let half = 1; half < COMPARED && count < length; half *= 2) {
    yield* shiftedBy(half, order, shifted)
    yield* sortByRank(shifted, order, ranks, count)
    count = yield* rerank(half, order, ranks, next)
    ;[ranks, next] = [next, ranks]
  }
  return order
}

/** That of a place behind the end comes before all others. */
const rankAt = (ranks: Int32Array, place: number): number => (place < ranks.length ? ranks[place]! : -1)

export class TextIndex {
  readonly #text: string
  readonly #places: Int32Array

  private constructor(text: string, places: Int32Array) {
    this.#text = text
    this.#places = places
  }

  /** Takes about a second for a megabyte, in pieces of some milliseconds. */
  static *pieces(text: string): Generator<void, TextIndex> {
    return new TextIndex(text, yield* sortedPlaces(text))
  }

  /** In one piece. */
  static of(text: string): TextIndex {
    const pieces = TextIndex.pieces(text)
    for (;;) {
      const piece = pieces.next()
      if (piece.done === true) return piece.value
    }
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
