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
  /** The named members of its objects. Only `nameMember` adds one. */
  readonly names: Map<string, Member>
  /** The same, in their order. */
  readonly members: Array<Member>
  /** The other members of its objects. */
  rest: Field | null
  /** The items of its lists. */
  items: Field | null
  /** Whether it had members or items that no field describes. */
  open: boolean
  /** Whether it had a number that a double does not represent exactly. */
  long: boolean
}

/** A named member of a field. */
export interface Member {
  readonly field: Field
  /** The key in compact JSON text, with its colon. */
  readonly key: string
  /** Its index in `members`. */
  readonly place: number
}

/** What is known of a source's payloads. */
export interface PayloadShape {
  readonly root: Field
  /** The number of fields, without the root. */
  fields: number
}

/** The most fields of a source. */
export const MAX_FIELDS = 1_000
/** The most levels of fields. */
export const MAX_DEPTH = 12
/** The most names in an object. */
export const MAX_NAMES = 200
const MAX_NAME_LENGTH = 100

/** A field without values. */
export const newField = (): Field => ({
  kinds: new Map(),
  names: new Map(),
  members: [],
  rest: null,
  items: null,
  open: false,
  long: false,
})

/** The shape of a source without events. */
export const emptyShape = (): PayloadShape => ({ root: newField(), fields: 0 })

/** Names a member of `field`. */
export const nameMember = (field: Field, name: string, inner: Field): void => {
  const member = { field: inner, key: `${JSON.stringify(name)}:`, place: field.members.length }
  field.members.push(member)
  field.names.set(name, member)
}

/** Numbers, UUIDs, long hexadecimal numbers and times; whatever has an `@` may be a person's address. */
const ID = /^(?:[-+]?\d[\d.,:_T Z+-]*|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=[^\d]*\d)[0-9a-f]{8,})$|@/i

/** Whether a member's name is rather a value, such as the number of an order. */
export const looksLikeId = (name: string): boolean => name.length > MAX_NAME_LENGTH || ID.test(name)

/** Validators in JavaScript find these in every object, or cannot name them. */
export const isOfEveryObject = (name: string): boolean => name in Object.prototype

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

/** The kinds of its values, in the order of `KINDS`. */
export const kindsSeen = ({ kinds }: Field): ReadonlyArray<Kind> => KINDS.filter((kind) => kinds.has(kind))

/** How often it had any value. */
export const timesSeen = ({ kinds }: Field): number => kinds.values().reduce((sum, { count }) => sum + count, 0)

/** How often it was an object; its members are counted against this. */
export const objectsSeen = ({ kinds }: Field): number => kinds.get("object")?.count ?? 0

/** Whether each of its objects has this member. */
export const isAlwaysThere = (parent: Field, member: Field): boolean => timesSeen(member) === objectsSeen(parent)
