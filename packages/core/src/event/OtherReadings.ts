/** Lists the values of a request that were read in a charset other than the request's, within bounds. */
import type { CharsetDecidedBy, CharsetDecision } from "../text/Charset.ts"

/** `file_name`: the name of a file in a field of the body. */
export const READING_PLACES = ["body", "query", "file_name"] as const
/** Where in the request a value is. */
export type ReadingPlace = (typeof READING_PLACES)[number]

/** Values that were read in one other charset. */
export interface OtherReading {
  /** The charset. */
  readonly name: string
  readonly decidedBy: CharsetDecidedBy
  readonly place: ReadingPlace
  /** The names of the fields in the request's order; only the first few of many. */
  readonly fields: ReadonlyArray<string>
  /** The number of further fields. */
  readonly more: number
}

const MAX_FIELDS = 20
const MAX_NAME = 100

/** Collects readings of one form. */
export class OtherReadings {
  readonly #readings = new Map<
    string,
    { reading: Omit<OtherReading, "fields" | "more">; fields: Array<string>; more: number }
  >()

  /** Records that a value of this field was read with this decision. */
  add({ charset, decidedBy }: CharsetDecision, place: ReadingPlace, field: string): void {
    const key = `${charset.name} ${decidedBy} ${place}`
    let held = this.#readings.get(key)
    if (held === undefined) {
      held = { reading: { name: charset.name, decidedBy, place }, fields: [], more: 0 }
      this.#readings.set(key, held)
    }
    if (held.fields.length < MAX_FIELDS) held.fields.push(field.slice(0, MAX_NAME).toWellFormed())
    else held.more++
  }

  list(): ReadonlyArray<OtherReading> {
    return this.#readings.size === 0
      ? NONE
      : [...this.#readings.values()].map(({ reading, fields, more }) => ({ ...reading, fields, more }))
  }
}

const NONE: ReadonlyArray<OtherReading> = []
