/**
 * Learns a shape from payloads as JSON text, in one walk over the characters that builds no values: most events of a source
 * have the members of the one before, in the same order, so the next key is compared with the one expected there.
 */
import {
  exceedsDouble,
  type Field,
  isOfEveryObject,
  type Kind,
  looksLikeId,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_NAMES,
  nameMember,
  newField,
  type PayloadShape,
} from "./PayloadShape.ts"

/** Events to learn from, at least one. */
export interface LearnedEvents {
  /** As JSON texts that PostgreSQL accepted, without repeated keys; separated by commas. */
  readonly payloads: string
  /** When each was received, in milliseconds. */
  readonly times: ReadonlyArray<number>
}

/** Stands in the place of the next member while a list is open. */
const LIST = -1

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_LIST = 91
const OPEN_OBJECT = 123

const WORDS: Readonly<Record<number, readonly [kind: Kind, length: number]>> = {
  102: ["boolean", "false".length],
  110: ["null", "null".length],
  116: ["boolean", "true".length],
}

const afterSpace = (text: string, at: number): number => {
  let next = at
  while (text.charCodeAt(next) <= 32) next++
  return next
}

/** `at`: the index of the opening quote. */
const afterString = (text: string, at: number): number => {
  const end = text.indexOf('"', at + 1)
  if (end !== -1 && text.charCodeAt(end - 1) !== BACKSLASH) return end + 1
  for (let next = at + 1; next < text.length; next++) {
    const code = text.charCodeAt(next)
    if (code === BACKSLASH) next++
    else if (code === QUOTE) return next + 1
  }
  throw new Error(`A payload is not JSON at character ${at + 1}.`)
}

/** Learns from events, in pieces. */
export class ShapeLearning {
  readonly #shape: PayloadShape
  /** The open containers; null for one that no field describes. */
  readonly #open: Array<Field | null> = []
  /** For each the index of the member that is expected next, or `LIST`. */
  readonly #places: Array<number> = []
  #text = ""
  /** The index of the next character, and the field of the value that begins there. */
  #next = 0
  #field: Field | null = null
  #times: ReadonlyArray<number> = []
  #event = 0
  #time = 0

  constructor(shape: PayloadShape) {
    this.#shape = shape
  }

  /** Begins with events. `advance` must have ended the ones before. */
  begin({ payloads, times }: LearnedEvents): void {
    this.#text = payloads
    this.#times = times
    this.#event = 0
    this.#payload(0)
  }

  #payload(from: number): void {
    this.#next = afterSpace(this.#text, from)
    this.#field = this.#shape.root
    this.#time = this.#times[this.#event++]!
  }

  /** Reads about this many more characters; returns whether it has read all. */
  advance(characters: number): boolean {
    const text = this.#text
    const stop = this.#next + characters
    while (this.#next < stop) {
      const code = text.charCodeAt(this.#next)
      if (code === QUOTE) {
        this.#count("string")
        this.#next = afterString(text, this.#next)
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
        if (this.#begins(code)) continue
      } else {
        const word = WORDS[code]
        if (word === undefined) this.#number()
        else {
          this.#count(word[0])
          this.#next += word[1]
        }
      }
      if (this.#ends()) return true
    }
    return false
  }

  #count(kind: Kind): void {
    if (this.#field === null) return
    const at = this.#time
    const seen = this.#field.kinds.get(kind)
    if (seen === undefined) this.#field.kinds.set(kind, { count: 1, firstAt: at, lastAt: at })
    else {
      seen.count++
      if (at < seen.firstAt) seen.firstAt = at
      if (at > seen.lastAt) seen.lastAt = at
    }
  }

  #number(): void {
    const text = this.#text
    const start = this.#next
    let end = start
    let whole = true
    for (;;) {
      const code = text.charCodeAt(end)
      if (code === 43 || code === 46 || code === 69 || code === 101) whole = false
      else if (code !== 45 && !(code >= 48 && code <= 57)) break
      end++
    }
    if (end === start) throw new Error(`A payload is not JSON at character ${start + 1}.`)
    this.#count(whole ? "integer" : "number")
    const field = this.#field
    if (field !== null && !field.long) field.long = exceedsDouble(text.slice(start, end))
    this.#next = end
  }

  /** Returns false for an empty container, which has ended. */
  #begins(code: number): boolean {
    const isList = code === OPEN_LIST
    const field = this.#field
    this.#count(isList ? "array" : "object")
    this.#next = afterSpace(this.#text, this.#next + 1)
    if (this.#text.charCodeAt(this.#next) === code + 2) {
      this.#next++
      return false
    }
    this.#open.push(field)
    this.#places.push(isList ? LIST : 0)
    if (isList) this.#item()
    else this.#member()
    return true
  }

  /** Closes what ends after a value; returns whether that was the last event. */
  #ends(): boolean {
    while (this.#open.length > 0) {
      const at = afterSpace(this.#text, this.#next)
      this.#next = at + 1
      if (this.#text.charCodeAt(at) === COMMA) {
        this.#next = afterSpace(this.#text, at + 1)
        if (this.#places[this.#places.length - 1] === LIST) this.#item()
        else this.#member()
        return false
      }
      this.#open.pop()
      this.#places.pop()
    }
    if (this.#event === this.#times.length) return true
    this.#payload(afterSpace(this.#text, this.#next) + 1)
    return false
  }

  #item(): void {
    const list = this.#open[this.#open.length - 1]!
    this.#field = list === null ? null : (list.items ??= this.#create())
    if (list !== null && this.#field === null) list.open = true
  }

  #member(): void {
    const text = this.#text
    const at = this.#next
    const last = this.#open.length - 1
    const object = this.#open[last]!
    const expected = object?.members[this.#places[last]!]
    if (expected !== undefined && text.startsWith(expected.key, at)) {
      this.#places[last]!++
      this.#field = expected.field
      this.#next = afterSpace(text, at + expected.key.length)
      return
    }
    const end = afterString(text, at)
    this.#next = afterSpace(text, afterSpace(text, end) + 1)
    this.#field = object === null ? null : this.#named(object, JSON.parse(text.slice(at, end)) as string, last)
    if (object !== null && this.#field === null) object.open = true
  }

  #named(object: Field, name: string, last: number): Field | null {
    const known = object.names.get(name)
    if (known !== undefined) {
      this.#places[last] = known.place + 1
      return known.field
    }
    if (object.names.size >= MAX_NAMES || looksLikeId(name) || isOfEveryObject(name)) {
      return (object.rest ??= this.#create())
    }
    const created = this.#create()
    if (created === null) return object.rest
    nameMember(object, name, created)
    this.#places[last] = object.members.length
    return created
  }

  /** A field inside the container that is open; null beyond the bounds. */
  #create(): Field | null {
    if (this.#open.length > MAX_DEPTH || this.#shape.fields >= MAX_FIELDS) return null
    this.#shape.fields++
    return newField()
  }
}
