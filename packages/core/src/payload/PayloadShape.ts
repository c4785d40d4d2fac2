/**
 * The shape of a source's payloads, learned event by event: which fields there are, which kinds of values each has, how
 * often, and since when. Only names and kinds are kept, never a value.
 *
 * However hostile the senders are, a shape stays small: at most `MAX_FIELDS` fields, `MAX_DEPTH` levels and `MAX_NAMES`
 * names in an object. Members whose names look like ids, and those beyond the bounds, are described together as the
 * object's `rest`, as are names like `constructor`. What does not fit at all is only marked, so that the shape never excludes what was sent.
 *
 * Decision: docs/decisions/0103-what-came-is-described-behind-the-feed.md
 */
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"

/** The kinds of values, by their names in JSON Schema; `number` is one that is not written as an integer. */
export const KINDS = ["boolean", "integer", "number", "string", "array", "object", "null"] as const

/** The kind of a value. */
export type Kind = (typeof KINDS)[number]

/** The values of one kind. Times are in milliseconds. */
export interface KindSeen {
  count: number
  firstAt: number
  lastAt: number
}

/** A field, with the fields inside it. It is changed while events are learned. */
export interface Field {
  readonly kinds: Map<Kind, KindSeen>
  /** The members of its objects, by name. */
  readonly names: Map<string, Field>
  /** The other members of its objects. */
  rest: Field | null
  /** The items of its lists. */
  items: Field | null
  /** Whether it had members or items that no field describes. */
  open: boolean
  /** Whether it had a number that a double does not represent exactly. */
  long: boolean
}

/** What is known of a source's payloads. */
export interface PayloadShape {
  readonly root: Field
  /** The number of fields, without the root. */
  fields: number
}

/** An event to learn from. */
export interface LearnedEvent {
  readonly payload: JsonObject
  /** When it was received, in milliseconds. */
  readonly at: number
}

/** The most fields of a source. */
export const MAX_FIELDS = 1_000
const MAX_DEPTH = 12
const MAX_NAMES = 200
const MAX_NAME_LENGTH = 100

const newField = (): Field => ({
  kinds: new Map(),
  names: new Map(),
  rest: null,
  items: null,
  open: false,
  long: false,
})

/** The shape of a source without events. */
export const emptyShape = (): PayloadShape => ({ root: newField(), fields: 0 })

/** Numbers, UUIDs, long hexadecimal numbers and times; whatever has an `@` may be a person's address. */
const ID = /^(?:[-+]?\d[\d.,:_T Z+-]*|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=[^\d]*\d)[0-9a-f]{8,})$|@/i

/** Whether a member's name is rather a value, such as the number of an order. */
export const looksLikeId = (name: string): boolean => name.length > MAX_NAME_LENGTH || ID.test(name)

/** Validators in JavaScript find these in every object, or cannot name them. */
const isOfEveryObject = (name: string): boolean => name in Object.prototype

const kindOf = (value: Json): Kind => {
  if (value === null) return "null"
  if (typeof value === "string") return "string"
  if (typeof value === "boolean") return "boolean"
  if (value instanceof JsonNumber) return /^-?\d+$/.test(value.token) ? "integer" : "number"
  return isJsonList(value) ? "array" : "object"
}

const DIGITS_OF_DOUBLE = 15

/** Whether a double may lose a digit of it. */
export const exceedsDouble = (token: string): boolean => {
  if (token.length <= DIGITS_OF_DOUBLE && !/[eE]/.test(token)) return false
  const value = Number(token)
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(value)
  const [mantissa = ""] = token.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+/, "")
  let length = digits.length
  while (digits[length - 1] === "0") length--
  return !Number.isFinite(value) || length > DIGITS_OF_DOUBLE || (value === 0 && length > 0)
}

/** Learns from events, in pieces. */
export class ShapeLearning {
  readonly #shape: PayloadShape
  readonly #fields: Array<Field> = []
  readonly #values: Array<Json> = []
  readonly #depths: Array<number> = []
  #at = 0

  constructor(shape: PayloadShape) {
    this.#shape = shape
  }

  /** Begins with an event. `advance` must have ended the one before. */
  begin({ payload, at }: LearnedEvent): void {
    this.#at = at
    this.#push(this.#shape.root, payload, 0)
  }

  /** Sees about this many more values; returns whether it has seen all. */
  advance(values: number): boolean {
    for (let left = values; left > 0; left--) {
      const field = this.#fields.pop()
      if (field === undefined) return true
      this.#see(field, this.#values.pop()!, this.#depths.pop()!)
    }
    return this.#fields.length === 0
  }

  #push(field: Field, value: Json, depth: number): void {
    this.#fields.push(field)
    this.#values.push(value)
    this.#depths.push(depth)
  }

  #see(field: Field, value: Json, depth: number): void {
    const kind = kindOf(value)
    const seen = field.kinds.get(kind)
    if (seen === undefined) field.kinds.set(kind, { count: 1, firstAt: this.#at, lastAt: this.#at })
    else {
      seen.count++
      if (this.#at < seen.firstAt) seen.firstAt = this.#at
      if (this.#at > seen.lastAt) seen.lastAt = this.#at
    }
    if (value instanceof JsonNumber) field.long ||= exceedsDouble(value.token)
    else if (kind === "array") this.#seeItems(field, value as ReadonlyArray<Json>, depth)
    else if (kind === "object") {
      for (const [name, member] of value as JsonObject) {
        const inner = this.#member(field, name, depth)
        if (inner === null) field.open = true
        else this.#push(inner, member, depth + 1)
      }
    }
  }

  #seeItems(field: Field, items: ReadonlyArray<Json>, depth: number): void {
    if (items.length === 0) return
    field.items ??= this.#create(depth)
    if (field.items === null) field.open = true
    else for (const item of items) this.#push(field.items, item, depth + 1)
  }

  #member(field: Field, name: string, depth: number): Field | null {
    const known = field.names.get(name)
    if (known !== undefined) return known
    if (field.names.size >= MAX_NAMES || looksLikeId(name) || isOfEveryObject(name)) {
      return (field.rest ??= this.#create(depth))
    }
    const created = this.#create(depth)
    if (created === null) return field.rest
    field.names.set(name, created)
    return created
  }

  /** Null beyond the bounds. */
  #create(depth: number): Field | null {
    if (depth >= MAX_DEPTH || this.#shape.fields >= MAX_FIELDS) return null
    this.#shape.fields++
    return newField()
  }
}

/** The kinds of its values, in the order of `KINDS`. */
export const kindsSeen = ({ kinds }: Field): ReadonlyArray<Kind> => KINDS.filter((kind) => kinds.has(kind))

/** How often it had any value. */
export const timesSeen = ({ kinds }: Field): number => kinds.values().reduce((sum, { count }) => sum + count, 0)

/** How often it was an object; its members are counted against this. */
export const objectsSeen = ({ kinds }: Field): number => kinds.get("object")?.count ?? 0

/** Whether each of its objects has this member. */
export const isAlwaysThere = (parent: Field, member: Field): boolean => timesSeen(member) === objectsSeen(parent)
