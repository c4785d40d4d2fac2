/** An example of an event that reads differently now: short, because a call keeps one for each of its events. */
import * as Shape from "../json/Shape.ts"
import type { ChangedValue } from "./RereadOriginal.ts"

/** How one event changes, or has changed. */
export interface RereadExample {
  readonly event: number
  /** The first of its values that change, shortened. */
  readonly values: ReadonlyArray<ChangedValue>
  /** How many more there are. */
  readonly more: number
}

/** The example's JSON, null for none, and its description. */
export const rereadExampleShape = Shape.eitherOrNull(
  Shape.object<RereadExample>("An event that changes.", {
    event: Shape.id("The event's number.", 10417),
    values: Shape.list(
      Shape.object<ChangedValue>("A value that reads differently now.", {
        field: Shape.text("The field's name as it reads now."),
        fieldBefore: Shape.orNull(Shape.text("Its name before; null if it is the same.")),
        before: Shape.text("The value before: the first 200 characters."),
        after: Shape.text("The value as it reads now: the first 200 characters."),
      }),
      "The first of them.",
    ),
    more: Shape.whole("How many more values change."),
  }),
  "The first event that changes; null if none does.",
)

const MAX_VALUES = 10
const MAX_VALUE_LENGTH = 200

/** `values`: all that change. */
export const exampleOf = (event: number, values: ReadonlyArray<ChangedValue>): RereadExample => ({
  event,
  values: values.slice(0, MAX_VALUES).map(shortened),
  more: Math.max(0, values.length - MAX_VALUES),
})

const shortened = ({ field, fieldBefore, before, after }: ChangedValue): ChangedValue => ({
  field: short(field),
  fieldBefore: fieldBefore === null ? null : short(fieldBefore),
  before: short(before),
  after: short(after),
})

/** A copy: a slice would keep the whole text in memory, for each of a thousand events. */
const short = (text: string): string => {
  const kept = Buffer.from(text.slice(0, MAX_VALUE_LENGTH)).toString()
  return text.length > MAX_VALUE_LENGTH ? `${kept}…` : kept
}
