/** A shape as the list of its fields, each with its kinds, its share, and what has changed about it in the last week. */
import * as Shape from "../json/Shape.ts"
import { type Field, type Kind, KINDS, kindsSeen, objectsSeen, type PayloadShape, timesSeen } from "./PayloadShape.ts"

/** What happened to a field in the last seven days; `missing`: it was usual, and did not come although others did. */
export const FIELD_CHANGES = ["new", "kind_changed", "missing"] as const

/** What happened to a field. */
export type FieldChange = (typeof FIELD_CHANGES)[number]

/** The values of a field that are of one kind. Times are RFC 3339. */
export interface FieldKind {
  readonly kind: Kind
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
}

/** A field of a source's payloads. */
export interface PayloadField {
  /** Names joined by dots; `[]` stands for the items of a list, `*` for members whose names are ids. */
  readonly path: string
  /** How often it came. */
  readonly count: number
  /** In which share of the objects around it it was, from 0 to 1; null for items and for `*`. */
  readonly share: number | null
  readonly kinds: ReadonlyArray<FieldKind>
  readonly firstAt: string
  readonly lastAt: string
  readonly change: FieldChange | null
}

/** What a source's payloads look like. */
export interface SourceShape {
  readonly sourceId: number
  /** How many events were learned from. */
  readonly events: number
  /** Null without events. */
  readonly firstAt: string | null
  readonly lastAt: string | null
  /** Whether each member that came is described by a field; false beyond the bounds. */
  readonly complete: boolean
  readonly fields: ReadonlyArray<PayloadField>
}

const kindShape = Shape.object<FieldKind>("The values of one kind.", {
  kind: Shape.oneOf(KINDS, "The kind; `number` is one that is not written as an integer."),
  count: Shape.whole("How many."),
  firstAt: Shape.time("When the first event with one was received."),
  lastAt: Shape.time("When the last event with one was received."),
})

const fieldShape = Shape.object<PayloadField>("A field.", {
  path: Shape.text(
    "Its names, joined by dots; `[]` stands for the items of a list, `*` for members whose names are ids. A name with other characters is in double quotes.",
  ),
  count: Shape.whole("How often it came."),
  share: Shape.orNull(
    Shape.leaf<number>({ type: "number", minimum: 0, maximum: 1 }),
    "In which share of the objects around it it was; null for items and for `*`.",
  ),
  kinds: Shape.list(kindShape, "The kinds of its values."),
  firstAt: Shape.time("When the first event with it was received."),
  lastAt: Shape.time("When the last event with it was received."),
  change: Shape.orNull(
    Shape.oneOf(FIELD_CHANGES),
    "What happened in the last seven days: it is new in a source that is older, it has a new kind, or it did not come although it was usual before; null for none of these.",
  ),
})

/** The JSON of a source's shape, and its description. */
export const sourceShapeShape = Shape.named(
  "SourceShape",
  Shape.object<SourceShape>("What a source's payloads look like.", {
    sourceId: Shape.id("The source's id."),
    events: Shape.whole("How many events it was learned from, repeats and spam among them."),
    firstAt: Shape.orNull(Shape.time("When the first of them was received; null without one.")),
    lastAt: Shape.orNull(Shape.time("When the last of them was received.")),
    complete: Shape.flag(
      "False if some members or items are described by no field, because there were too many or too deep ones.",
    ),
    fields: Shape.list(fieldShape, "The fields, at most 1,000."),
  }),
)

const WEEK_MILLIS = 7 * 86_400_000
/** A field in fewer of the objects is not missed. */
const USUAL_SHARE = 0.5

interface Times {
  readonly first: number
  readonly last: number
}

const timesOf = (kinds: Iterable<{ readonly firstAt: number; readonly lastAt: number }>): Times => {
  const all = [...kinds]
  return {
    first: all.reduce((first, { firstAt }) => Math.min(first, firstAt), Number.POSITIVE_INFINITY),
    last: all.reduce((last, { lastAt }) => Math.max(last, lastAt), 0),
  }
}

const rfc3339 = (millis: number): string => new Date(millis).toISOString()

const changeOf = (field: Field, share: number | null, parent: Field, rootFirst: number, now: number) => {
  const { first, last } = timesOf(field.kinds.values())
  const since = now - WEEK_MILLIS
  if (rootFirst >= since) return null
  if (first >= since) return "new"
  const kinds = [...field.kinds].filter(([kind]) => kind !== "null").map(([, seen]) => seen)
  if (kinds.length > 1 && kinds.some(({ firstAt }) => firstAt >= since)) return "kind_changed"
  const around = parent.kinds.get("object")
  // What fell silent as a whole lacks no field.
  const goesOn = around !== undefined && around.lastAt >= since
  return goesOn && last < since && (share ?? 0) >= USUAL_SHARE ? "missing" : null
}

const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$ -]*$/u

const within = (path: string, name: string): string => {
  const shown = PLAIN_NAME.test(name) ? name : JSON.stringify(name)
  return path === "" ? shown : `${path}.${shown}`
}

/** `now` in milliseconds. */
export const shapeFields = (sourceId: number, { root }: PayloadShape, now: number): SourceShape => {
  const fields: Array<PayloadField> = []
  const events = timesSeen(root)
  const { first: rootFirst, last: rootLast } = timesOf(root.kinds.values())
  let complete = true
  const add = (field: Field, parent: Field, path: string, share: number | null): void => {
    const { first, last } = timesOf(field.kinds.values())
    fields.push({
      path,
      count: timesSeen(field),
      share,
      kinds: kindsSeen(field).map((kind) => {
        const { count, firstAt: from, lastAt: to } = field.kinds.get(kind)!
        return { kind, count, firstAt: rfc3339(from), lastAt: rfc3339(to) }
      }),
      firstAt: rfc3339(first),
      lastAt: rfc3339(last),
      change: changeOf(field, share, parent, rootFirst, now),
    })
    walk(field, path)
  }
  const walk = (field: Field, path: string): void => {
    if (field.open) complete = false
    for (const [name, { field: inner }] of field.names)
      add(inner, field, within(path, name), timesSeen(inner) / objectsSeen(field))
    if (field.rest !== null) add(field.rest, field, path === "" ? "*" : `${path}.*`, null)
    if (field.items !== null) add(field.items, field, `${path}[]`, null)
  }
  walk(root, "")
  return {
    sourceId,
    events,
    firstAt: events === 0 ? null : rfc3339(rootFirst),
    lastAt: events === 0 ? null : rfc3339(rootLast),
    complete,
    fields,
  }
}
