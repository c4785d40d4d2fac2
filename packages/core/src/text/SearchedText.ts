/** A text that is searched for any number of others, of which none may be chosen to make that slow. */
import { containsText } from "./ContainsText.ts"
import { TextIndex } from "./TextIndex.ts"

/** Up to this product of lengths the built-in search is tried: usually it is the fastest, and at worst it takes some 50 ms. */
const BUILT_IN = 50_000_000

/** Making an index takes about as many milliseconds a character. */
const INDEX_MILLIS = 0.001

export class SearchedText {
  readonly #text: string
  readonly #indexMillis: number
  #spentMillis = 0
  #index: TextIndex | undefined

  /** `indexMillis`: the index is made once all searches have taken this long for each character. */
  constructor(text: string, indexMillis = INDEX_MILLIS) {
    this.#text = text
    this.#indexMillis = indexMillis
  }

  /** The same as `text.includes(sought)`. */
  contains(sought: string): boolean {
    if (this.#index !== undefined) return this.#index.contains(sought)
    const began = performance.now()
    const found = containsText(this.#text, sought, BUILT_IN)
    this.#spentMillis += performance.now() - began
    if (this.#spentMillis > this.#indexMillis * this.#text.length) this.#index = new TextIndex(this.#text)
    return found
  }
}
