/** A text that is searched for any number of others, of which none may be chosen to make that slow. */
import { containsText } from "./ContainsText.ts"
import { TextIndex } from "./TextIndex.ts"

/** Up to this product of lengths the built-in search is tried: usually it is the fastest, and at worst it takes some 10 ms. */
const BUILT_IN = 10_000_000

/** Making an index takes about as many milliseconds a character. */
const INDEX_MILLIS = 0.001

export class SearchedText {
  readonly #text: string
  readonly #indexMillis: number
  readonly #inPieces: boolean
  #spentMillis = 0
  #index: TextIndex | undefined

  /**
   * `indexMillis`: the index is made once all searches have taken this long for each character. `inPieces`: by the caller, who
   * calls `index` if the text is slow.
   */
  constructor(text: string, { indexMillis = INDEX_MILLIS, inPieces = false } = {}) {
    this.#text = text
    this.#indexMillis = indexMillis
    this.#inPieces = inPieces
  }

  /** Whether the searches have taken long enough for an index, which has not been made. */
  get isSlow(): boolean {
    return this.#index === undefined && this.#spentMillis > this.#indexMillis * this.#text.length
  }

  /** Makes the index, and yields between its pieces. */
  *index(): Generator<void> {
    this.#index = yield* TextIndex.pieces(this.#text)
  }

  /** The same as `text.includes(sought)`. */
  contains(sought: string): boolean {
    if (this.#index !== undefined) return this.#index.contains(sought)
    const began = performance.now()
    const found = containsText(this.#text, sought, BUILT_IN)
    this.#spentMillis += performance.now() - began
    if (this.isSlow && !this.#inPieces) this.#index = TextIndex.of(this.#text)
    return found
  }
}
