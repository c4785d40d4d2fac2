/**
 * Accept: ONE statement in ONE transaction. Event, original request, repeat window, table row and due deliveries of a
 * whole batch commit together or not at all.
 *
 * The order matters, and the statement forces it. First the fence: a table named in the statement, which PostgreSQL
 * therefore locks before execution, replanned or not. Then, by data flow within the statement, the locks of equal bodies,
 * then the transaction id and the event ids. This lets the feed's readers bound what is still to commit, and a repeat
 * never gets a lower id than its first.
 *
 * Firsts are looked up in a map instead of joined: the planner cannot estimate their number, and a nested loop over a
 * batch of 200 compares 40,000 pairs. The map is read by a subquery: as a column it would be sorted along with every row.
 * The clock is read inline, exactly as cabinet.now() reads it, because a call would start another query.
 */
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { boolArray, byteaArray, int4Array, int8Array, textArray } from "../connection/ArrayParameter.ts"
import { IN_FENCE } from "../feed/Fence.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"
import type { Batch, BatchTable } from "./Batch.ts"

/** One row per accepted event. An event whose source has changed has none. */
export interface AcceptedRow {
  readonly n: number
  readonly id: bigint
  readonly repeat_of: bigint | null
  readonly deliveries: number
}

/** Adds a parameter to the statement and returns its placeholder. */
type Bind = (value: unknown) => string

const rowsOf = ({ table, columns, rows }: BatchTable, index: number, bind: Bind): string => {
  const names = columns.map(quoteName)
  const target = quoteQualified(SOURCES_SCHEMA, table)
  return `, rows_${index} AS (
  INSERT INTO ${target} (${["_event_id", "_received_at", ...names].join(", ")})
  SELECT ${["k.id", "k.at", ...names.map((name) => `r.${name}`)].join(", ")}
  FROM json_populate_recordset(NULL::${target}, ${bind(rows)}::json) r
  JOIN marked k ON k.n = r._event_id
  WHERE k.repeat_of IS NULL AND NOT k.rows_deferred
)`
}

/**
 * Advances the counts of imports, provided each still stands where its slice begins. A slice that was accepted before, by
 * a lost runner or by another one, finds its count advanced and is left out whole.
 */
const progressOf = ({ request, importId, version, first, last }: Batch["staged"], bind: Bind) => {
  const slices = bind(int4Array(request))
  return {
    cte: `
), progress AS MATERIALIZED (
  UPDATE cabinet.import m SET accepted = p.last
  FROM locks, cabinet.source s, unnest(${slices}::int4[], ${bind(int8Array(importId))}::int8[], ${bind(int4Array(version))}::int4[],
    ${bind(int8Array(first))}::int8[], ${bind(int8Array(last))}::int8[]) AS p(request, import_id, version, first, last)
  WHERE locks.held IS NOT NULL AND m.id = p.import_id AND m.accepted = p.first AND m.state = 'accepting'
    AND s.id = m.source_id AND s.version = p.version AND s.archived_at IS NULL AND s.deleted_at IS NULL
  RETURNING p.request`,
    filter: `
  WHERE i.request <> ALL (${slices}::int4[]) OR i.request IN (SELECT request FROM progress)`,
  }
}

/**
 * Finds each body's first event from the repeat windows of the batch. If no two bodies of the batch are equal, only
 * firsts from before the batch are looked up: their ids are below all ids of the batch, which are assigned once the locks
 * of its bodies are held.
 */
const firstsOf = (distinct: boolean) =>
  distinct
    ? {
        marked: "SELECT source_id, fingerprint, id, at FROM numbered WHERE fingerprint IS NOT NULL ORDER BY 1, 2",
        lookedUp: "FROM marks WHERE first_id < (SELECT min(id) FROM numbered)",
      }
    : {
        marked:
          "SELECT source_id, fingerprint, min(id), min(at) FROM numbered WHERE fingerprint IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
        lookedUp: "FROM marks",
      }

/** An original request has the id of its first event. */
const originalsOf = (single: boolean) =>
  single
    ? { id: "n.id", ofEvent: "original_request_id", beside: "" }
    : {
        id: "min(n.id) OVER (PARTITION BY n.request)",
        ofEvent: "CASE WHEN o.request IS NULL THEN NULL ELSE original_request_id END",
        beside: " LEFT JOIN unnest($11::int4[]) o(request) ON o.request = marked.request",
      }

/**
 * How a batch acquires the locks of its bodies: it waits for them or, if a stranger holds one, it only tries. An event
 * whose lock is not acquired counts as neither a repeat nor a first, because without the lock it might get a lower id
 * than its first. It is accepted all the same.
 */
export type BodyLockMode = "wait" | "try"

const WAITED = {
  locks: `SELECT count(pg_advisory_xact_lock(k)) AS held
  FROM unnest($10::int8[]) k WHERE NOT EXISTS (SELECT FROM fence)`,
  fingerprint: "decode(i.fingerprint, 'hex')",
  keys: "",
  key: "",
}

const triedLocks = (batch: Batch, bind: Bind): typeof WAITED => {
  let next = 0
  const keys = batch.fingerprint.map((print) => (print === null ? null : batch.bodyKeys[next++]!))
  return {
    locks: `SELECT count(*) AS held, array_agg(t.k) FILTER (WHERE NOT t.acquired) AS missed
  FROM (SELECT k, pg_try_advisory_xact_lock(k) AS acquired FROM unnest($10::int8[]) k WHERE NOT EXISTS (SELECT FROM fence)) t`,
    fingerprint:
      "CASE WHEN i.body_key = ANY ((SELECT missed FROM locks)::int8[]) THEN NULL ELSE decode(i.fingerprint, 'hex') END",
    keys: `, ${bind(int8Array(keys))}::int8[]`,
    key: ", body_key",
  }
}

/** Records for which event a column was created. */
const madeForOf = ({ sourceId, column, n }: Batch["madeFor"], bind: Bind): string => `, made_for AS (
  UPDATE cabinet.field_column c SET created_by_event_id = k.id
  FROM unnest(${bind(int8Array(sourceId))}::int8[], ${bind(textArray(column))}::text[], ${bind(int8Array(n))}::int8[])
    AS made(source_id, name, n) JOIN marked k ON k.n = made.n
  WHERE c.source_id = made.source_id AND c.name = made.name AND c.created_by_event_id IS NULL
)`

/**
 * Once one row of a source is deferred, all later ones are. Unless the row of the source is locked, as it is while a column is
 * retyped: an accept waits for nobody here, and the drain finds the row without the flag.
 */
const WAITING_SOURCES = `, waiting_sources AS (
  UPDATE cabinet.source SET rows_deferred = true
  WHERE id IN (
    SELECT s.id FROM cabinet.source s
    WHERE s.id IN (SELECT source_id FROM marked WHERE waits AND repeat_of IS NULL) AND NOT s.rows_deferred
    FOR NO KEY UPDATE SKIP LOCKED
  )
)`

/**
 * Builds the statement for a batch. Its text depends only on the tables that take rows, on two flags that hold for nearly
 * all batches, and on parts that are rarely present, so it stays prepared. Absent parts cost nothing.
 */
export const acceptStatement = (
  batch: Batch,
  bodyLocks: BodyLockMode = "wait",
): { readonly text: string; readonly values: ReadonlyArray<unknown> } => {
  const o = batch.originals
  const values: Array<unknown> = [
    int4Array(batch.request),
    int8Array(batch.sourceId),
    int4Array(batch.version),
    textArray(batch.channel),
    boolArray(batch.history),
    boolArray(batch.empty),
    textArray(batch.fingerprint),
    textArray(batch.payload),
    boolArray(batch.waits),
    int8Array(batch.locks),
    int4Array(o.request),
    byteaArray(o.body),
    int4Array(o.bodyBytes),
    textArray(o.contentType),
    textArray(o.ip),
    textArray(o.referer),
    textArray(o.origin),
    textArray(o.userAgent),
    textArray(o.acceptLanguage),
    textArray(o.charset),
    textArray(o.charsetFrom),
    int4Array(o.replaced),
  ]
  const bind: Bind = (value) => `$${values.push(value)}`
  const rows = batch.tables.map((table, index) => rowsOf(table, index, bind)).join("")
  const progress = batch.staged.request.length > 0 ? progressOf(batch.staged, bind) : { cte: "", filter: "" }
  const madeFor = batch.madeFor.column.length > 0 ? madeForOf(batch.madeFor, bind) : ""
  const bodies = bodyLocks === "wait" ? WAITED : triedLocks(batch, bind)
  const firsts = firstsOf(batch.distinct)
  const originals = originalsOf(batch.single)
  const waitingSources = batch.waits.includes(true) ? WAITING_SOURCES : ""
  return {
    values,
    text: `
WITH fence AS MATERIALIZED (
  ${IN_FENCE}
), locks AS MATERIALIZED (
  ${bodies.locks}
), moment AS MATERIALIZED (
  SELECT clock_timestamp() + clock.shift AS at, pg_current_xact_id()::text::int8 AS xid, cabinet.current_epoch() AS epoch
  FROM locks CROSS JOIN cabinet.clock WHERE locks.held IS NOT NULL${progress.cte}
), input AS MATERIALIZED (
  SELECT i.request, i.source_id, i.version, i.channel, i.history, i.empty, ${bodies.fingerprint} AS fingerprint,
    i.payload, i.waits, i.n, s.rows_deferred OR i.waits AS rows_deferred
  FROM unnest($1::int4[], $2::int8[], $3::int4[], $4::text[], $5::bool[], $6::bool[], $7::text[], $8::text[], $9::bool[]${bodies.keys})
    WITH ORDINALITY AS i(request, source_id, version, channel, history, empty, fingerprint, payload, waits${bodies.key}, n)
  JOIN cabinet.source s ON s.id = i.source_id AND s.version = i.version AND s.archived_at IS NULL AND s.deleted_at IS NULL${progress.filter}
), numbered AS MATERIALIZED (
  SELECT nextval('cabinet.event_id') AS id, i.*
  FROM (SELECT m.at, m.xid, m.epoch, input.* FROM moment m CROSS JOIN input ORDER BY input.n) i
), marks AS (
  INSERT INTO cabinet.repeat_window AS m (source_id, fingerprint, first_id, first_at)
  ${firsts.marked}
  ON CONFLICT (source_id, fingerprint) DO UPDATE SET
    first_id = CASE WHEN m.first_at > excluded.first_at - interval '5 minutes' THEN m.first_id ELSE excluded.first_id END,
    first_at = CASE WHEN m.first_at > excluded.first_at - interval '5 minutes' THEN m.first_at ELSE excluded.first_at END
  RETURNING source_id, fingerprint, first_id
), firsts AS MATERIALIZED (
  SELECT jsonb_object_agg(source_id || encode(fingerprint, 'hex'), first_id) AS by_body ${firsts.lookedUp}
), marked AS MATERIALIZED (
  SELECT n.*, ${originals.id} AS original_request_id,
         CASE WHEN (SELECT by_body FROM firsts) IS NOT NULL THEN
           nullif(((SELECT by_body FROM firsts) ->> (n.source_id || encode(n.fingerprint, 'hex')))::int8, n.id) END AS repeat_of
  FROM numbered n
), events AS (
  INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, repeat_of, original_request_id, channel, history, empty, payload)
  SELECT epoch, xid, id, source_id, at, repeat_of, ${originals.ofEvent}, channel, history, empty, payload::json
  FROM marked${originals.beside}
), originals AS (
  INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, content_type, ip, referer, origin,
                                user_agent, accept_language, charset, charset_from, replaced)
  SELECT k.id, k.at, k.source_id, o.body, o.body_bytes, o.content_type, o.ip, o.referer, o.origin,
         o.user_agent, o.accept_language, o.charset, o.charset_from, o.replaced
  FROM unnest($11::int4[], $12::bytea[], $13::int4[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
              $19::text[], $20::text[], $21::text[], $22::int4[])
    AS o(request, body, body_bytes, content_type, ip, referer, origin, user_agent, accept_language, charset,
         charset_from, replaced)
  JOIN marked k ON k.request = o.request AND k.id = k.original_request_id
), waiting AS (
  INSERT INTO cabinet.deferred_row (event_id, source_id)
  SELECT id, source_id FROM marked WHERE rows_deferred AND repeat_of IS NULL
), deliveries AS (
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT a.id, k.id, k.at, k.at
  FROM marked k JOIN cabinet.address a ON a.removed_at IS NULL AND (a.every_source OR EXISTS (
    SELECT FROM cabinet.address_source s WHERE s.address_id = a.id AND s.source_id = k.source_id))
  WHERE k.repeat_of IS NULL AND NOT k.empty AND NOT k.history
  ORDER BY k.id
  RETURNING 1
)${rows}${madeFor}${waitingSources}
SELECT n::int4 AS n, id, repeat_of, (SELECT count(*) FROM deliveries)::int4 AS deliveries FROM marked ORDER BY marked.n`,
  }
}
