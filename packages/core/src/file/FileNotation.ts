/**
 * Reads the texts of a file in the notation that its caller names. A field is read as numbers or days where its column in the
 * source's table already is of these, or where all its values in the file are: so that `12345` stays text beside `00123`. Where
 * it is, its values become what JSON and ISO 8601 write, to the last digit, and an empty one becomes null; a value that is not
 * written in the notation stays the text that it is. Only fields of a row's own are looked at, not what is in lists or objects.
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

/** What a field of the file is read as. `text`: as it stands, although some of its values are numbers or days. */
export type ReadAs = "number" | "date" | "text"

export interface ReadField {
  readonly field: string
  readonly as: ReadAs
  /** How many of its values are written in the notation, and how many others it has. */
  readonly fits: number
  readonly misfits: number
}

export interface NotationMisfit {
  readonly line: number
  readonly field: string
  /** Cut where it is long. */
  readonly value: string
}

export interface NotationReport {
  /** The fields in which at least one value is written in the notation, or should be. */
  readonly readAs: ReadonlyArray<ReadField>
  /** The first values of these that are not. */
  readonly misfits: ReadonlyArray<NotationMisfit>
}

const MAX_MISFITS = 20
const SHOWN_CHARACTERS = 200

export const hasNotation = ({ numbers, dates }: Notation): boolean => (numbers ?? dates) !== undefined

/** In words; undefined for a notation that exists. */
export const notationRefusal = ({ numbers, dates }: Notation): string | undefined => {
  if (numbers !== undefined && !NUMBER_NOTATIONS.includes(numbers)) return unknownNotation("numbers", NUMBER_NOTATIONS)
  return dates !== undefined && !DATE_NOTATIONS.includes(dates) ? unknownNotation("dates", DATE_NOTATIONS) : undefined
}

interface FieldCounts {
  numbers: number
  days: number
  filled: number
  /** The first values that are no numbers, and the first that are no days. */
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
  /** The kinds of the columns that the source's table has, by field. */
  readonly #columns: ReadonlyMap<string, ColumnKind>
  readonly #fields = new Map<string, FieldCounts>()
  #readAs: ReadonlyMap<string, "number" | "date"> = new Map()

  constructor(notation: Notation, columns: ReadonlyMap<string, ColumnKind>) {
    this.#notation = notation
    this.#columns = columns
  }

  /** A row in the first pass. */
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

  /** What the field's column in the table says. */
  #meant(field: string): "number" | "date" | undefined {
    const kind = this.#columns.get(field)
    if (kind === "numeric" && this.#notation.numbers !== undefined) return "number"
    return (kind === "date" || kind === "timestamptz") && this.#notation.dates !== undefined ? "date" : undefined
  }

  /** A row in the second pass, as it becomes an event. */
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
