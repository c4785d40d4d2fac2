/** The parts of an accept statement that write the rows of its events, and record those that are deferred. */
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"
import { type BatchTable, CREATED_COLUMNS, type CreatedColumn } from "./Batch.ts"
import type { AcceptParameters } from "./AcceptParameters.ts"

/** The part of the statement that writes the rows of a table of the batch, and returns those that it took. */
const takenRows = (index: number): string => `rows_${index}`

export const rowsOf = ({ table, columns, rows }: BatchTable, index: number, parameters: AcceptParameters): string => {
  const names = columns.map(quoteName)
  const target = quoteQualified(SOURCES_SCHEMA, table)
  return `, ${takenRows(index)} AS (
  INSERT INTO ${target} (${["_event_id", "_received_at", ...names].join(", ")})
  SELECT ${["k.id", "k.at", ...names.map((name) => `r.${name}`)].join(", ")}
  FROM json_populate_recordset(NULL::${target}, ${parameters.add(rows)}::json) r
  JOIN marked k ON k.n = r._event_id
  WHERE k.repeat_of IS NULL AND NOT k.rows_deferred
  RETURNING _event_id
)`
}

/**
 * The condition of an event whose row its table did not take, although the INSERT succeeded: a trigger of the operator's
 * returned NULL. Such rows are deferred, so that another attempt writes them or sets them aside.
 */
export const untakenOf = (tables: ReadonlyArray<BatchTable>, expected: string): string => {
  if (tables.length === 0) return ""
  const taken = tables.map((_, index) => `SELECT _event_id FROM ${takenRows(index)}`).join(" UNION ALL ")
  const sources = tables.map(({ sourceId }) => sourceId).join(", ")
  return ` OR (source_id IN (${sources}) AND ${expected} AND id NOT IN (${taken}))`
}

/** Records which event created a column. */
export const createdOf = (
  created: ReadonlyArray<CreatedColumn>,
  parameters: AcceptParameters,
): string => `, made_for AS (
  UPDATE cabinet.field_column c SET created_by_event_id = k.id
  FROM unnest(${parameters.addRows(CREATED_COLUMNS, created).join(", ")})
    AS made(${CREATED_COLUMNS.names.join(", ")}) JOIN marked k ON k.n = made.n
  WHERE c.source_id = made.source_id AND c.name = made.name AND c.created_by_event_id IS NULL
)`

/**
 * Once one row of a source is deferred, all later ones are. The exception is a source whose row is locked while a
 * column is retyped: an accept waits for nobody here, and the drain finds the row without the flag.
 */
export const WAITING_SOURCES = `, waiting_sources AS (
  UPDATE cabinet.source SET rows_deferred = true
  WHERE id IN (
    SELECT s.id FROM cabinet.source s
    WHERE s.id IN (SELECT source_id FROM marked WHERE waits AND repeat_of IS NULL) AND NOT s.rows_deferred
    FOR NO KEY UPDATE SKIP LOCKED
  )
)`
