/**
 * The parameters of an accept statement. Every batch has its events, the keys of its bodies and its original requests,
 * always at the same positions; parts that only some batches need add their parameters after them.
 */
import { int8Array } from "../connection/Parameter.ts"
import type { InputColumns } from "../connection/InputColumns.ts"
import {
  type Batch,
  EVENT_COLUMNS,
  EVENT_VERDICT_COLUMNS,
  KEPT_COLUMNS,
  ORIGINAL_COLUMNS,
  OTHERS_COLUMNS,
  SPAM_COLUMNS,
  VERDICT_COLUMNS,
} from "./Batch.ts"

/** The placeholder of the keys of the batch's bodies, which come after its events. */
export const LOCKS = `$${EVENT_COLUMNS.names.length + 1}`
const FIRST_ORIGINAL = EVENT_COLUMNS.names.length + 2
const EVENT_ARRAYS = EVENT_COLUMNS.placeholders(1)
/** The placeholders of the batch's original requests, which come after those keys. */
export const ORIGINAL_ARRAYS = ORIGINAL_COLUMNS.placeholders(FIRST_ORIGINAL)

/** Columns of a batch's events or originals, as arguments of `unnest` and by name. */
interface BatchColumns {
  readonly arrays: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  /** Names of columns that only some batches have. */
  readonly more: ReadonlyArray<string>
}

/** The parameters of a statement, which grow as parts are added to its text. */
export class AcceptParameters {
  readonly values: Array<unknown>

  constructor({ events, locks, originals }: Batch) {
    this.values = [...EVENT_COLUMNS.parameters(events), int8Array(locks), ...ORIGINAL_COLUMNS.parameters(originals)]
  }

  /** Adds a parameter and returns its placeholder. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  /** The columns of its events: those that every batch has, and the additional ones of this batch. */
  events({ events, hasVerdicts, hasSpam }: Batch): BatchColumns {
    const given = { arrays: EVENT_ARRAYS, names: EVENT_COLUMNS.names, more: [] }
    const judged = hasVerdicts ? this.#more(given, EVENT_VERDICT_COLUMNS, events) : given
    return hasSpam ? this.#more(judged, SPAM_COLUMNS, events) : judged
  }

  originals({ originals, hasVerdicts, hasKept, hasOthers }: Batch): BatchColumns {
    const given = { arrays: ORIGINAL_ARRAYS, names: ORIGINAL_COLUMNS.names, more: [] }
    const kept = hasKept ? this.#more(given, KEPT_COLUMNS, originals) : given
    const read = hasOthers ? this.#more(kept, OTHERS_COLUMNS, originals) : kept
    return hasVerdicts ? this.#more(read, VERDICT_COLUMNS, originals) : read
  }

  #more<Row>(
    { arrays, names, more }: BatchColumns,
    columns: InputColumns<Row>,
    rows: ReadonlyArray<Row>,
  ): BatchColumns {
    return {
      arrays: [...arrays, ...this.addRows(columns, rows)],
      names: [...names, ...columns.names],
      more: [...more, ...columns.names],
    }
  }

  /** Adds records and returns the arguments of `unnest`. */
  addRows<Row>(columns: InputColumns<Row>, rows: ReadonlyArray<Row>): ReadonlyArray<string> {
    const arrays = columns.placeholders(this.values.length + 1)
    for (const array of columns.parameters(rows)) this.values.push(array)
    return arrays
  }
}
