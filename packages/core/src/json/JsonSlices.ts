/**
 * The objects of a body as slices of its text. An object without white space, escapes and repeated keys has exactly the
 * text that `jsonText` would write, and so does each of its members: both are cut out instead of being written again.
 */
import { canonicalJsonText, jsonTexts } from "./JsonText.ts"
import { inKeyOrder } from "./KeyOrder.ts"
import type { JsonTexts } from "./JsonText.ts"
import type { JsonObject } from "./Json.ts"

interface SentObject {
  /** Where its members begin, starting after the brace; the last entry is one past the end of the object. */
  readonly starts: Array<number>
  /** Whether a member contains a list or an object. */
  nested: boolean
}

export class JsonSlices {
  /** In the order of the objects; null for an object that has to be written. */
  readonly #objects: Array<SentObject | null> = []
  #open: SentObject = { starts: [], nested: false }

  begin(firstMember: number): void {
    this.#open = { starts: [firstMember], nested: false }
  }

  member(start: number): void {
    this.#open.starts.push(start)
  }

  nest(): void {
    this.#open.nested = true
  }

  /** `plain`: the text is exactly the output of `jsonText`. */
  end(after: number, plain: boolean): void {
    this.#open.starts.push(after)
    this.#objects.push(plain ? this.#open : null)
  }

  /** An object without members. */
  empty(): void {
    this.#objects.push(null)
  }

  /** The texts of each object, by its index among those that were read from `text`. */
  textsIn(text: string): SentTexts {
    return new SentTexts(text, this.#objects)
  }
}

/** The source texts of the objects of a body. */
export class SentTexts {
  readonly #text: string
  readonly #objects: ReadonlyArray<SentObject | null>

  constructor(text: string, objects: ReadonlyArray<SentObject | null>) {
    this.#text = text
    this.#objects = objects
  }

  /** The object's source text; undefined if it has to be written. */
  whole(place: number): string | undefined {
    const sent = this.#objects[place]
    if (sent === null || sent === undefined) return undefined
    return this.#text.slice(sent.starts[0]! - 1, sent.starts[sent.starts.length - 1])
  }

  of(object: JsonObject, place: number): JsonTexts {
    const whole = this.whole(place)
    if (whole === undefined) return jsonTexts(object)
    const { starts, nested } = this.#objects[place]!
    if (nested) return { text: whole, canonical: canonicalJsonText(object) }
    const places = inKeyOrder([...object.keys()])
    const members = places.map((at) => this.#text.slice(starts[at], starts[at + 1]! - 1))
    return { text: whole, canonical: `{${members.join(",")}}` }
  }
}
