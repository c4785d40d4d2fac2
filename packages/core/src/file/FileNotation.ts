/**
 * Reads texts of a file in the notation that the caller names. A field becomes numbers or days if its column in the
 * source's table already has that type, or if all its values in the file fit: so `12345` stays text beside `00123`.
 *
 * Values of such a field are converted to JSON numbers and ISO 8601 days, to the last digit; an empty value becomes
 * null. A value that does not fit the notation stays text. Only a row's own fields are examined, not the contents of
 * lists or objects.
 */
import { type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import type { ColumnKind } from "../row/FieldColumn.ts"
import {
  DATE_NOTATIONS,
  type Notation,
  NUMBER_NOTATIONS,
  readDay,
  readNumber,
  unknownNotation,
} from "../row/Notation.ts"
import { MAX_FIELD_COLUMNS } from "../row/RowPlan.ts"

/** How a field of the file is read. `text`: unchanged, although some of its values are numbers or days. */
export type ReadAs = "number" | "date" | "text"

/** How a field of the file is read, and how many of its values fit. */
export interface ReadField {
  readonly field: string
  readonly as: ReadAs
  /** How many of its values fit the notation, and how many do not. */
  readonly fits: number
  readonly misfits: number
}

/** A value that does not fit the notation. */
export interface NotationMisfit {
  readonly line: number
  readonly field: string
  /** Cut if long. */
  readonly value: string
}

/** How the fields of a file are read in a notation. */
export interface NotationReport {
  /** The fields in which at least one value fits the notation, or whose column requires it. */
  readonly readAs: ReadonlyArray<ReadField>
  /** The first values of these fields that do not fit. */
  readonly misfits: ReadonlyArray<NotationMisfit>
}

const MAX_MISFITS = 20
const SHOWN_CHARACTERS = 200

/** True if the options name a notation. */
export const hasNotation = ({ numbers, dates }: Notation): boolean => (numbers ?? dates) !== undefined

/** Explains an invalid notation; undefined for a valid one. */
export const notationRefusal = ({ numbers, dates }: Notation): string | undefined => {
  if (numbers !== undefined && !NUMBER_NOTATIONS.includes(numbers)) return unknownNotation("numbers", NUMBER_NOTATIONS)
  return dates !== undefined && !DATE_NOTATIONS.includes(dates) ? unknownNotation("dates", DATE_NOTATIONS) : undefined
}

interface FieldCounts {
  numbers: number
  days: number
  filled: number
  /** The first values that are not numbers, and the first that are not days. */
  readonly noNumbers: Array<NotationMisfit>
  readonly noDays: Array<NotationMisfit>
}

const note = (misfits: Array<NotationMisfit>, line: number, field: string, value: Exclude<Json, null>): void => {
  if (misfits.length >= MAX_MISFITS) return
  const shown = value instanceof JsonNumber ? value.token : typeof value === "string" ? value : JSON.stringify(value)
  misfits.push({ line, field, value: shown.slice(0, SHOWN_CHARACTERS).toWellFormed() })
}

export class FileNotation {
  readonly #notation: Notation
  /** The kinds of the source's columns, by field. */
  readonly #columns: ReadonlyMap<string, ColumnKind>
  readonly #fields = new Map<string, FieldCounts>()
  #readAs: ReadonlyMap<string, "number" | "date"> = new Map()

  constructor(notation: Notation, columns: ReadonlyMap<string, ColumnKind>) {
    this.#notation = notation
    this.#columns = columns
  }

  /** Examines a row in the first pass. */
  see(line: number, payload: JsonObject): void {
    const { numbers, dates } = this.#notation
    for (const [field, value] of payload) {
      if (value === null || value === "") continue
      let counts = this.#fields.get(field)
      if (counts === undefined) {
        if (this.#fields.size >= MAX_FIELD_COLUMNS) continue
        counts = { numbers: 0, days: 0, filled: 0, noNumbers: [], noDays: [] }
        this.#fields.set(field, counts)
      }
      counts.filled++
      if (numbers !== undefined) {
        const fits = value instanceof JsonNumber || (typeof value === "string" && readNumber(value, numbers) !== null)
        if (fits) counts.numbers++
        else note(counts.noNumbers, line, field, value)
      }
      if (dates !== undefined) {
        if (typeof value === "string" && readDay(value, dates) !== null) counts.days++
        else note(counts.noDays, line, field, value)
      }
    }
  }

  /** Decides, after the first pass, which fields are read as what. */
  decide(): NotationReport {
    const read = new Map<string, "number" | "date">()
    const readAs: Array<ReadField> = []
    const misfits: Array<NotationMisfit> = []
    for (const [field, { numbers, days, filled, noNumbers, noDays }] of this.#fields) {
      const meant = this.#meant(field) ?? (numbers >= days ? "number" : "date")
      const [fits, others] = meant === "number" ? [numbers, noNumbers] : [days, noDays]
      const isTyped = this.#meant(field) !== undefined
      if (fits === 0 && !isTyped) continue
      const as = isTyped || fits === filled ? meant : "text"
      if (as !== "text") read.set(field, as)
      readAs.push({ field, as, fits, misfits: filled - fits })
      for (const misfit of others) misfits.push(misfit)
    }
    this.#readAs = read
    return { readAs, misfits: misfits.sort((a, b) => a.line - b.line).slice(0, MAX_MISFITS) }
  }

  /** The kind that the field's column requires. */
  #meant(field: string): "number" | "date" | undefined {
    const kind = this.#columns.get(field)
    if (kind === "numeric" && this.#notation.numbers !== undefined) return "number"
    return (kind === "date" || kind === "timestamptz") && this.#notation.dates !== undefined ? "date" : undefined
  }

  /** Converts a row in the second pass. */
  read(payload: JsonObject): JsonObject {
    let changed: Map<string, Json> | undefined
    for (const [field, as] of this.#readAs) {
      const value = payload.get(field)
      if (typeof value !== "string") continue
      const read = value === "" ? null : this.#value(value, as)
      if (read !== value) (changed ??= new Map(payload)).set(field, read)
    }
    return changed ?? payload
  }

  #value(text: string, as: "number" | "date"): Json {
    if (as === "date") return readDay(text, this.#notation.dates!) ?? text
    const number = readNumber(text, this.#notation.numbers!)
    return number === null ? text : new JsonNumber(number)
  }
}
