/**
 * Assigns the fields of an event to columns of its source's table by the kind of each JSON token, and determines which
 * columns must be created. Nothing is cast by guess, dropped or rounded: a value that its column cannot hold goes to a
 * sibling column of the value's own kind, and a value without a column goes to `_more`.
 *
 * Decision: docs/decisions/0001-long-and-colliding-names.md
 */
import { type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { isServiceKey } from "../event/Payload.ts"
import type { ColumnKind, FieldColumn, SentKind } from "./FieldColumn.ts"
import { matchesExactly } from "../text/ExactFormat.ts"
import type { LongValues } from "./LongValues.ts"
import { fitsJsonb, fitsNumeric, isContainer } from "./NumberWidth.ts"
import { readableName } from "./ReadableName.ts"

/**
 * The maximum number of field columns of a table, including siblings. PostgreSQL's own limit is near 450 wide values in a
 * row.
 */
export const MAX_FIELD_COLUMNS = 300

/** The column for values without a column of their own: `{field: value}`. */
export const MORE_COLUMN = "_more"

/** A field whose name is longer than this stays a key of `_more`: as a label, the name would be in every page of rows. */
export const MAX_LABEL_LENGTH = 1_000

/** The columns of a source's table as currently known. */
export class TableLayout {
  readonly columns: ReadonlyArray<FieldColumn>
  readonly hasMore: boolean
  /** Columns for which the event that created them is not recorded yet. */
  readonly unrecorded: ReadonlySet<string>
  /** The kinds of those columns that are the first of their field and have the field's name. */
  readonly asSent = new Map<string, ColumnKind>()
  readonly #byField = new Map<string, Array<FieldColumn>>()
  readonly #members = new Map<FieldColumn, string>()

  constructor(columns: ReadonlyArray<FieldColumn>) {
    this.columns = columns.filter((column) => column.name !== MORE_COLUMN)
    this.hasMore = this.columns.length < columns.length
    this.unrecorded = new Set(columns.filter((column) => column.unrecorded === true).map((column) => column.name))
    for (const column of this.columns) {
      this.#members.set(column, memberOf(column.name))
      const known = this.#byField.get(column.field)
      if (known !== undefined) known.push(column)
      else {
        this.#byField.set(column.field, [column])
        if (column.name === column.field) this.asSent.set(column.field, column.kind)
      }
    }
  }

  /** The columns of a field: its first column, then the siblings. */
  of(field: string): ReadonlyArray<FieldColumn> {
    return this.#byField.get(field) ?? NONE
  }

  /** `,"name":` for one of these columns, quoted only once for all rows. */
  memberOf(column: FieldColumn): string {
    return this.#members.get(column)!
  }
}

const NONE: ReadonlyArray<FieldColumn> = []

const memberOf = (name: string): string => `,${JSON.stringify(name)}:`

/** A field that needs a column of this kind. */
export interface MissingColumn {
  readonly field: string
  readonly kind: SentKind
}

export interface RowPlan {
  /** The names of those columns with a value for which the event that created them is not recorded yet. */
  readonly unrecorded: ReadonlyArray<string>
  /**
   * The values of the columns as members of a JSON object, each `,"name":value`: text that the column's kind accepts
   * exactly.
   */
  readonly members: string
  readonly missing: ReadonlyArray<MissingColumn>
  /** True if a value goes to `_more` and the table does not have that column yet. */
  readonly needsMore: boolean
}

/** The kind of column that a value alone requires. */
const kindOf = (value: Exclude<Json, null>, long: LongValues | undefined): SentKind => {
  if (typeof value === "string") return "text"
  if (typeof value === "boolean") return "boolean"
  if (value instanceof JsonNumber) return fitsNumeric(value) ? "numeric" : "text"
  return (long?.of(value)?.fits ?? fitsJsonb(value)) ? "jsonb" : "text"
}

const textOf = (value: Json, long: LongValues | undefined): string =>
  (long !== undefined && isContainer(value) ? long.of(value)?.text : undefined) ?? jsonText(value)

/** The value as JSON text for a column of this kind: a text column takes any token as a string. */
const cellText = (value: Exclude<Json, null>, kind: ColumnKind, long: LongValues | undefined): string => {
  if (typeof value === "string") return kind === "numeric" || kind === "boolean" ? value : jsonText(value)
  if (kind !== "text") return textOf(value, long)
  return JSON.stringify(value instanceof JsonNumber ? value.token : textOf(value, long))
}

const isScalar = (value: Json): boolean =>
  typeof value === "string" || typeof value === "boolean" || value instanceof JsonNumber

/**
 * Whether a field's first column accepts this value; a column whose kind an operator chose also accepts a text that
 * represents such a value exactly.
 */
const takes = (column: FieldColumn, kind: SentKind, value: Json): boolean => {
  if (column.kind === kind) return true
  if (column.kind === "text") return isScalar(value)
  return column.typePinned === true && typeof value === "string" && matchesExactly(value, column.kind)
}

/** Whether every field has a column of the same name that accepts the value as sent. */
const goesAsSent = (layout: TableLayout, payload: JsonObject, long: LongValues | undefined): boolean => {
  if (layout.unrecorded.size > 0 || payload.size === 0) return false
  for (const [field, value] of payload) {
    const kind = layout.asSent.get(field)
    if (kind === undefined) return false
    if (value !== null && (kindOf(value, long) !== kind || (kind === "text" && typeof value !== "string"))) return false
  }
  return true
}

/**
 * Plans the row of one event, whose payload was written as `text`; for a long event, `long` holds the facts computed in
 * advance. `missing` lists the columns that must be created first; plan again after that. With `fixed`, no column can
 * be created: the plan covers only existing columns.
 */
export const planRow = (
  layout: TableLayout,
  payload: JsonObject,
  text: string,
  long?: LongValues,
  fixed = false,
): RowPlan => {
  if (goesAsSent(layout, payload, long))
    return { unrecorded: [], members: `,${text.slice(1, -1)}`, missing: [], needsMore: false }
  const unrecorded: Array<string> = []
  let members = ""
  const missing: Array<MissingColumn> = []
  /** Members of `_more`; not written while columns are missing, because the row is planned again then. */
  const more: Array<string> = []
  let needsMore = false
  for (const [field, value] of payload) {
    if (value === null || isServiceKey(field)) continue
    const kind = kindOf(value, long)
    const columns = layout.of(field)
    const own = columns[0]
    const column =
      own !== undefined && takes(own, kind, value) ? own : columns.find((candidate) => candidate.kind === kind)
    if (column !== undefined) {
      if (layout.unrecorded.has(column.name)) unrecorded.push(column.name)
      members += layout.memberOf(column) + cellText(value, column.kind, long)
    } else if (field.length <= MAX_LABEL_LENGTH && layout.columns.length + missing.length < MAX_FIELD_COLUMNS) {
      missing.push({ field, kind })
    } else {
      needsMore = true
      if (missing.length > 0 && !fixed) continue
      // A value that is not a string has the kind text only if jsonb cannot hold it; it is written as text here too.
      const cell = textOf(value, long)
      more.push(`${jsonText(field)}:${kind === "text" && typeof value !== "string" ? JSON.stringify(cell) : cell}`)
    }
  }
  if (needsMore && (layout.hasMore || !fixed)) {
    if (layout.unrecorded.has(MORE_COLUMN)) unrecorded.push(MORE_COLUMN)
    members += `${memberOf(MORE_COLUMN)}{${more.join(",")}}`
  }
  return { unrecorded, members, missing, needsMore: needsMore && !layout.hasMore }
}

/**
 * Names the missing columns of a table: a field's first column is named after the field, a sibling after the first column
 * and its kind (`amount`, `amount_text`). Stops at the limit; the remaining fields go to `_more` at the next plan.
 */
export const nameColumns = (
  layout: TableLayout,
  missing: ReadonlyArray<MissingColumn>,
  taken: Iterable<string> = [],
): ReadonlyArray<FieldColumn> => {
  const names = new Set([...layout.columns.map((column) => column.name), ...taken])
  const made: Array<FieldColumn> = []
  const madeOf = new Map<string, Array<FieldColumn>>()
  for (const { field, kind } of missing) {
    if (layout.columns.length + made.length >= MAX_FIELD_COLUMNS) break
    const known = [...layout.of(field), ...(madeOf.get(field) ?? [])]
    if (known.some((column) => column.kind === kind)) continue
    const own = known[0]
    const name = readableName(own === undefined ? field : `${own.name.slice(0, 50)}_${kind}`, names, "field")
    names.add(name)
    const column = { field, name, kind }
    made.push(column)
    const together = madeOf.get(field)
    if (together === undefined) madeOf.set(field, [column])
    else together.push(column)
  }
  return made
}
