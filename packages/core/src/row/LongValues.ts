/**
 * What planning a long event's row has to know of the lists and objects in its fields: found out beforehand and a piece at a
 * time, as it takes a look at everything in them.
 */
import type { Json, JsonObject } from "../json/Json.ts"
import { JsonWriting } from "../json/JsonText.ts"
import { type Container, isContainer, NumberCheck } from "./NumberWidth.ts"

/** Characters that are written, or values that are looked at, in one piece. */
const PIECE = 65_536

/** What a field costs beside its value. */
const NAME = 16

/** To look through a list or an object of so few characters once more costs no more than to remember it. */
const SHORT = 256

interface LongValue {
  /** jsonb takes all numbers in it. */
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

  /** Undefined for a short one. */
  of(value: Container): LongValue | undefined {
    return this.#found.get(value)
  }

  /** Does a piece of the work; true once that was all. */
  advance(): boolean {
    for (let done = 0; done < PIECE;) {
      if (this.#open === undefined) {
        const { value, done: isEnd } = this.#values.next()
        if (isEnd === true) return true
        done += NAME
        if (!isContainer(value)) continue
        this.#open = { value, check: new NumberCheck(value), writing: new JsonWriting(value, false) }
      }
      const { value, check, writing } = this.#open
      this.#fits ??= check.advance(PIECE)
      if (this.#fits === undefined) return false
      const text = writing.advance(PIECE)
      if (text === undefined) return false
      if (text.length > SHORT) this.#found.set(value, { fits: this.#fits, text })
      done += text.length
      this.#open = undefined
      this.#fits = undefined
    }
    return false
  }
}
