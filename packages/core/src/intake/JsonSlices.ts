/**
 * The objects of a body as they stand in its text. One without white space, escapes and keys that come twice stands there
 * as `jsonText` would write it, and so does each of its members: both are cut out instead of being written again.
 */
import { canonicalJsonText, inKeyOrder, jsonTexts } from "../event/JsonText.ts"
import type { JsonTexts } from "../event/JsonText.ts"
import type { JsonObject } from "../event/Json.ts"

interface SentObject {
  /** Where its members begin, the first after the brace; and one after where it ends. */
  readonly starts: Array<number>
  /** A member has a list or an object in it. */
  nested: boolean
}

export class JsonSlices {
  /** In the order of the objects; null for one that is to be written. */
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

  /** `plain`: it stands there as it would be written. */
  end(after: number, plain: boolean): void {
    this.#open.starts.push(after)
    this.#objects.push(plain ? this.#open : null)
  }

  /** Has no members. */
  empty(): void {
    this.#objects.push(null)
  }

  /** Answers the texts of each object, by its place among those that were read from `text`. */
  textsIn(text: string) {
    return (object: JsonObject, place: number): JsonTexts => textsOf(text, object, this.#objects[place])
  }
}

const textsOf = (text: string, object: JsonObject, sent: SentObject | null | undefined): JsonTexts => {
  if (sent === null || sent === undefined) return jsonTexts(object)
  const { starts, nested } = sent
  const whole = text.slice(starts[0]! - 1, starts[starts.length - 1])
  if (nested) return { text: whole, canonical: canonicalJsonText(object) }
  const places = inKeyOrder([...object.keys()])
  const members = places.map((at) => text.slice(starts[at], starts[at + 1]! - 1))
  return { text: whole, canonical: `{${members.join(",")}}` }
}
