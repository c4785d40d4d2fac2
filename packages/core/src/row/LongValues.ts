/**
 * Facts about lists and objects in a long event's fields, needed to plan its row. Computed in advance and in pieces,
 * because every value in them is visited.
 */
import type { Json, JsonObject } from "../json/Json.ts"
import { JsonWriting } from "../json/JsonText.ts"
import { type Container, isContainer, NumberCheck } from "./NumberWidth.ts"

/** Characters written, or values visited, in one piece. */
const PIECE_SIZE = 65_536

/** The cost of a field besides its value, in characters. */
const FIELD_COST = 16

/** A list or an object of up to this many characters costs no more to visit again than to remember. */
const SHORT_LENGTH = 256

interface LongValue {
  /** Whether jsonb can hold all numbers in it. */
  readonly fits: boolean
  readonly text: string
}

export class LongValues {
  readonly #found = new Map<Container, LongValue>()
  readonly #values: Iterator<Json>
  #open: { readonly value: Container; readonly check: NumberCheck; readonly writing: JsonWriting } | undefined
  #fits: boolean | undefined

  constructor(payload: JsonObject) {
    this.#values = payload.values()
  }

  /** Undefined for a short value. */
  of(value: Container): LongValue | undefined {
    return this.#found.get(value)
  }

  /** Does a piece of the work; returns true once everything is done. */
  advance(): boolean {
    for (let done = 0; done < PIECE_SIZE;) {
      if (this.#open === undefined) {
        const { value, done: isEnd } = this.#values.next()
        if (isEnd === true) return true
        done += FIELD_COST
        if (!isContainer(value)) continue
        this.#open = { value, check: new NumberCheck(value), writing: new JsonWriting(value, false) }
      }
      const { value, check, writing } = this.#open
      this.#fits ??= check.advance(PIECE_SIZE)
      if (this.#fits === undefined) return false
      const text = writing.advance(PIECE_SIZE)
      if (text === undefined) return false
      if (text.length > SHORT_LENGTH) this.#found.set(value, { fits: this.#fits, text })
      done += text.length
      this.#open = undefined
      this.#fits = undefined
    }
    return false
  }
}
