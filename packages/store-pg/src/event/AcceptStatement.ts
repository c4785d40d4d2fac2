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
 *
 * Decision: docs/decisions/0034-accepting-comes-before-marking-repeats.md
 */
import { IN_FENCE } from "../feed/Fence.ts"
import type { Batch } from "./Batch.ts"
import { ORIGINAL_ARRAYS, AcceptParameters } from "./AcceptParameters.ts"
import { firstsOf, type BodyLockMode, WAITED, triedLocks } from "./AcceptRepeats.ts"
import {
  withheldOf,
  deliveriesOf,
  NO_DELIVERIES,
  filteredOf,
  queuedOf,
  NO_FILTERS,
  fannedOut,
  NOT_FANNED_OUT,
} from "./AcceptDeliveries.ts"
import { progressOf, NO_PROGRESS, noticesOf, NO_NOTICES, proofsOf, NO_PROOFS } from "./AcceptOnce.ts"
import { rowsOf, untakenOf, createdOf, WAITING_SOURCES } from "./AcceptRows.ts"

/** One row per accepted event; events whose source has changed have none. */
export interface AcceptedRow {
  readonly n: number
  readonly id: bigint
  readonly repeat_of: bigint | null
  readonly deliveries: number
  /** Events whose deliveries a follower writes; absent without such a source. */
  readonly fan_outs?: number
}

const inputFilter = (...conditions: ReadonlyArray<string>): string => {
  const given = conditions.filter((condition) => condition !== "")
  return given.length === 0
    ? ""
    : `
  WHERE ${given.join(" AND ")}`
}

/** An original request has the id of its first event. */
const originalIdsOf = (single: boolean) =>
  single
    ? { id: "n.id", ofEvent: "original_request_id", beside: "" }
    : {
        id: "min(n.id) OVER (PARTITION BY n.request)",
        ofEvent: "CASE WHEN o.request IS NULL THEN NULL ELSE original_request_id END",
        beside: ` LEFT JOIN unnest(${ORIGINAL_ARRAYS[0]}) o(request) ON o.request = marked.request`,
      }

const listed = (names: ReadonlyArray<string>): string => names.map((name) => `, ${name}`).join("")

/** The value of `input` for an event, if its fingerprint is this expression. */
const inputOf = (names: ReadonlyArray<string>, fingerprint: string): string =>
  names.map((name) => (name === "fingerprint" ? `${fingerprint} AS ${name}` : `i.${name}`)).join(", ")

/** The stored value of an original request for this column. */
const storedValue = (name: string): string => (JSON_COLUMNS.has(name) ? `o.${name}::json` : `o.${name}`)

const JSON_COLUMNS = new Set(["headers", "other_readings"])

/**
 * Builds the statement for a batch. Its text depends only on the tables that take rows, on two flags that hold for nearly
 * all batches, and on parts that are rarely present, so it stays prepared. Absent parts cost nothing.
 */
export const acceptStatement = (
  batch: Batch,
  bodyLocks: BodyLockMode = "wait",
): { readonly text: string; readonly values: ReadonlyArray<unknown> } => {
  const parameters = new AcceptParameters(batch)
  const rows = batch.tables.map((table, index) => rowsOf(table, index, parameters)).join("")
  const progress = batch.slices.length > 0 ? progressOf(batch.slices, parameters) : NO_PROGRESS
  const notices = batch.notices.length > 0 ? noticesOf(batch.notices, parameters) : NO_NOTICES
  const proofs = batch.proofs.length > 0 ? proofsOf(batch.proofs, parameters) : NO_PROOFS
  const created = batch.created.length > 0 ? createdOf(batch.created, parameters) : ""
  const events = parameters.events(batch)
  const originals = parameters.originals(batch)
  const withheld = withheldOf(batch)
  const untaken = untakenOf(batch.tables, `NOT rows_deferred AND repeat_of IS NULL${withheld.waiting}`)
  const delivered = withheld.delivered + notices.delivered
  const isDelivered = batch.events.some(({ request }) => !request.history)
  const filtered = batch.passed === null || !isDelivered ? NO_FILTERS : filteredOf(batch.passed, delivered, parameters)
  const queued = batch.queued === null || !isDelivered ? "" : queuedOf(batch.queued, withheld.delivered, parameters)
  const fanOut = batch.fansOut && isDelivered ? fannedOut(withheld.delivered, notices.about) : NOT_FANNED_OUT
  const deliveries = isDelivered ? deliveriesOf(`${fanOut.others}${delivered}`, filtered) : NO_DELIVERIES
  const bodies = bodyLocks === "wait" ? WAITED : triedLocks(batch, parameters)
  const firsts = firstsOf(batch.distinct)
  const ids = originalIdsOf(batch.single)
  const stored = originals.names.filter((name) => name !== "request")
  const waitingSources = batch.events.some(({ waits }) => waits) ? WAITING_SOURCES : ""
  return {
    values: parameters.values,
    text: `
WITH fence AS MATERIALIZED (
  ${IN_FENCE}
), locks AS MATERIALIZED (
  ${bodies.locks}
), moment AS MATERIALIZED (
  SELECT clock_timestamp() + clock.shift AS at, pg_current_xact_id()::text::int8 AS xid, cabinet.current_epoch() AS epoch
  FROM locks CROSS JOIN cabinet.clock WHERE locks.held IS NOT NULL${progress.cte}${notices.cte}${proofs.cte}
), input AS MATERIALIZED (
  SELECT ${inputOf(events.names, bodies.fingerprint)}, i.n, s.rows_deferred OR i.waits AS rows_deferred${fanOut.input}
  FROM unnest(${events.arrays.join(", ")}${bodies.keys})
    WITH ORDINALITY AS i(${events.names.join(", ")}${bodies.key}, n)
  JOIN cabinet.source s ON s.id = i.source_id AND s.version = i.version AND s.archived_at IS NULL AND s.deleted_at IS NULL${inputFilter(progress.filter, notices.filter, proofs.filter)}
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
  SELECT n.*, ${ids.id} AS original_request_id,
         CASE WHEN (SELECT by_body FROM firsts) IS NOT NULL THEN
           nullif(((SELECT by_body FROM firsts) ->> (n.source_id || encode(n.fingerprint, 'hex')))::int8, n.id) END AS repeat_of
  FROM numbered n
), events AS (
  INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, repeat_of, original_request_id, channel, history, empty, payload${listed(events.more)})
  SELECT epoch, xid, id, source_id, at, repeat_of, ${ids.ofEvent}, channel, history, empty, payload::json${listed(events.more)}
  FROM marked${ids.beside}
), originals AS (
  INSERT INTO cabinet.original_request (id, received_at, source_id${listed(stored)})
  SELECT k.id, k.at, k.source_id${listed(stored.map(storedValue))}
  FROM unnest(${originals.arrays.join(", ")}) AS o(${originals.names.join(", ")})
  JOIN marked k ON k.request = o.request AND k.id = k.original_request_id
)${rows}, waiting AS (
  INSERT INTO cabinet.deferred_row (event_id, source_id)
  SELECT id, source_id FROM marked WHERE (rows_deferred${untaken}) AND repeat_of IS NULL${withheld.waiting}
)${deliveries.made}${queued}${fanOut.made}${created}${progress.made}${waitingSources}
SELECT n::int4 AS n, id, repeat_of, ${deliveries.counted} AS deliveries${fanOut.counted} FROM marked ORDER BY marked.n`,
  }
}
