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
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { int8Array } from "../connection/ArrayParameter.ts"
import type { InputColumns } from "../connection/InputColumns.ts"
import { IN_FENCE } from "../feed/Fence.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"
import {
  type Batch,
  type BatchNotice,
  type BatchPassed,
  type BatchSlice,
  type BatchTable,
  CREATED_COLUMNS,
  type CreatedColumn,
  EVENT_COLUMNS,
  EVENT_VERDICT_COLUMNS,
  KEPT_COLUMNS,
  NOTICE_COLUMNS,
  PASSED_COLUMNS,
  ORIGINAL_COLUMNS,
  OTHERS_COLUMNS,
  SLICE_COLUMNS,
  SPAM_COLUMNS,
  VERDICT_COLUMNS,
} from "./Batch.ts"

/** One row per accepted event; events whose source has changed have none. */
export interface AcceptedRow {
  readonly n: number
  readonly id: bigint
  readonly repeat_of: bigint | null
  readonly deliveries: number
  /** Events whose deliveries a follower writes; absent without such a source. */
  readonly fan_outs?: number
}

/** The first parameters, which every batch has: its events, the keys of its bodies, its original requests. */
const LOCKS = `$${EVENT_COLUMNS.names.length + 1}`
const FIRST_ORIGINAL = EVENT_COLUMNS.names.length + 2
const EVENT_ARRAYS = EVENT_COLUMNS.placeholders(1)
const ORIGINAL_ARRAYS = ORIGINAL_COLUMNS.placeholders(FIRST_ORIGINAL)

/** Columns of a batch's events or originals, as arguments of `unnest` and by name. */
interface Given {
  readonly arrays: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  /** Names of columns that only some batches have. */
  readonly more: ReadonlyArray<string>
}

/** The parameters of a statement, which grow as parts are added to its text. */
class Parameters {
  readonly values: Array<unknown>

  constructor({ events, locks, originals }: Batch) {
    this.values = [...EVENT_COLUMNS.parameters(events), int8Array(locks), ...ORIGINAL_COLUMNS.parameters(originals)]
  }

  /** Adds a parameter and returns its placeholder. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  /** The columns of its events: those that every batch has, and the additional ones of this batch. */
  events({ events, hasVerdicts, hasSpam }: Batch): Given {
    const given = { arrays: EVENT_ARRAYS, names: EVENT_COLUMNS.names, more: [] }
    const judged = hasVerdicts ? this.#more(given, EVENT_VERDICT_COLUMNS, events) : given
    return hasSpam ? this.#more(judged, SPAM_COLUMNS, events) : judged
  }

  originals({ originals, hasVerdicts, hasKept, hasOthers }: Batch): Given {
    const given = { arrays: ORIGINAL_ARRAYS, names: ORIGINAL_COLUMNS.names, more: [] }
    const kept = hasKept ? this.#more(given, KEPT_COLUMNS, originals) : given
    const read = hasOthers ? this.#more(kept, OTHERS_COLUMNS, originals) : kept
    return hasVerdicts ? this.#more(read, VERDICT_COLUMNS, originals) : read
  }

  #more<Row>({ arrays, names, more }: Given, columns: InputColumns<Row>, rows: ReadonlyArray<Row>): Given {
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

/** The part of the statement that writes the rows of a table of the batch, and returns those that it took. */
const takenRows = (index: number): string => `rows_${index}`

const rowsOf = ({ table, columns, rows }: BatchTable, index: number, parameters: Parameters): string => {
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
const untakenOf = (tables: ReadonlyArray<BatchTable>, expected: string): string => {
  if (tables.length === 0) return ""
  const taken = tables.map((_, index) => `SELECT _event_id FROM ${takenRows(index)}`).join(" UNION ALL ")
  const sources = tables.map(({ sourceId }) => sourceId).join(", ")
  return ` OR (source_id IN (${sources}) AND ${expected} AND id NOT IN (${taken}))`
}

/**
 * Advances the counts of imports, provided that each still stands where its slice begins. A slice that was already
 * accepted, by a lost runner or another one, finds its count advanced and is skipped whole. Records which events a
 * file's slice became.
 */
const progressOf = (slices: ReadonlyArray<BatchSlice>, parameters: Parameters) => {
  const arrays = parameters.addRows(SLICE_COLUMNS, slices)
  return {
    cte: `
), progress AS MATERIALIZED (
  UPDATE cabinet.import m SET accepted = p.last
  FROM locks, cabinet.source s, unnest(${arrays.join(", ")}) AS p(${SLICE_COLUMNS.names.join(", ")})
  WHERE locks.held IS NOT NULL AND m.id = p.import_id AND m.accepted = p.first AND m.state = 'accepting'
    AND s.id = m.source_id AND s.version = p.version AND s.archived_at IS NULL AND s.deleted_at IS NULL
  RETURNING p.request, p.import_id, p.first, m.channel`,
    made: `, slices AS (
  INSERT INTO cabinet.import_slice (import_id, first, rows, epoch, xid, first_id, last_id)
  SELECT p.import_id, p.first, count(*), min(k.epoch), min(k.xid), min(k.id), max(k.id)
  FROM progress p JOIN marked k ON k.request = p.request WHERE p.channel = 'file' GROUP BY p.import_id, p.first
)`,
    filter: `(i.request <> ALL (${arrays[0]}) OR i.request IN (SELECT request FROM progress))`,
  }
}

const NO_PROGRESS: ReturnType<typeof progressOf> = { cte: "", made: "", filter: "" }

/**
 * Records the causes of the batch's notices in the order of its key, so that two batches never deadlock. A request
 * whose cause was recorded before, or occurs twice in the batch, is skipped whole. A notice about an address is not
 * sent to it.
 */
const noticesOf = (notices: ReadonlyArray<BatchNotice>, parameters: Parameters) => {
  const arrays = parameters.addRows(NOTICE_COLUMNS, notices)
  const given = `unnest(${arrays.join(", ")}) AS c(${NOTICE_COLUMNS.names.join(", ")})`
  return {
    cte: `
), told AS MATERIALIZED (
  INSERT INTO cabinet.notice (kind, subject, instance, since, ends)
  SELECT c.kind, c.subject, c.instance, c.since::timestamptz, c.ends
  FROM locks, ${given}
  JOIN cabinet.source s ON s.id = c.source_id AND s.version = c.version AND s.archived_at IS NULL AND s.deleted_at IS NULL
  WHERE locks.held IS NOT NULL ORDER BY c.kind, c.subject, c.instance
  ON CONFLICT DO NOTHING RETURNING kind, subject, instance`,
    filter: `(i.request <> ALL (${arrays[0]}) OR i.request IN (
    SELECT min(c.request) FROM ${given} JOIN told USING (kind, subject, instance) GROUP BY kind, subject, instance))`,
    delivered: ` AND NOT EXISTS (SELECT FROM ${given} WHERE c.request = k.request AND c.about = a.id)`,
    about: `coalesce((SELECT max(c.about) FROM ${given} WHERE c.request = k.request), 0)`,
  }
}

const NO_NOTICES: ReturnType<typeof noticesOf> = { cte: "", filter: "", delivered: "", about: "0" }

const inputFilter = (...conditions: ReadonlyArray<string>): string => {
  const given = conditions.filter((condition) => condition !== "")
  return given.length === 0
    ? ""
    : `
  WHERE ${given.join(" AND ")}`
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
 * Events of unverified senders are not delivered: the statement proves that the version of the source that judged them
 * is current. Spam is only an event, with no row now or later.
 */
const withheldOf = ({ hasVerdicts, hasSpam }: Batch) => ({
  delivered: `${hasVerdicts ? " AND k.verified IS NOT FALSE" : ""}${hasSpam ? " AND k.spam IS NULL" : ""}`,
  waiting: hasSpam ? " AND spam IS NULL" : "",
})

/** Which events `k` are delivered. */
const IS_DELIVERED = "k.repeat_of IS NULL AND NOT k.empty AND NOT k.history"

/**
 * Addresses with a filter are sent the events that were found to pass it: the version of the source proves that these
 * are its addresses and their filters.
 */
const filteredOf = (passed: ReadonlyArray<BatchPassed>, delivered: string, parameters: Parameters) => ({
  beside: `
  UNION ALL
  SELECT a.id, k.id, k.at, k.at
  FROM unnest(${parameters.addRows(PASSED_COLUMNS, passed).join(", ")}) AS p(${PASSED_COLUMNS.names.join(", ")})
  JOIN marked k ON k.n = p.n JOIN cabinet.address a ON a.id = p.address_id AND a.removed_at IS NULL AND a.filters IS NOT NULL
  WHERE ${IS_DELIVERED}${delivered}
  ORDER BY 2`,
})

const NO_FILTERS: ReturnType<typeof filteredOf> = {
  beside: `
  ORDER BY k.id`,
}

/**
 * Sources with many addresses: a follower writes their deliveries, and accepting an event costs the same for all of them.
 *
 * Decision: docs/decisions/0089-many-deliveries-are-written-behind-the-accept.md
 */
const fannedOut = (withheld: string, about: string) => ({
  input: ", s.fans_out",
  others: " AND NOT k.fans_out",
  made: `, fan_outs AS (
  INSERT INTO cabinet.fan_out (as_of, event_id, source_id, at, except_address)
  SELECT k.id, k.id, k.source_id, k.at, ${about} FROM marked k WHERE k.fans_out AND ${IS_DELIVERED}${withheld} ORDER BY k.id
  RETURNING 1
)`,
  counted: ", (SELECT count(*) FROM fan_outs)::int4 AS fan_outs",
})

const NOT_FANNED_OUT: ReturnType<typeof fannedOut> = { input: "", others: "", made: "", counted: "" }

/**
 * How a batch acquires the locks of its bodies: it waits for them or, if a foreign session holds one, only tries. An
 * event whose lock is not acquired counts as neither a repeat nor a first, because without the lock it might get a
 * lower id than its first. It is accepted nevertheless.
 */
export type BodyLockMode = "wait" | "try"

const WAITED = {
  locks: `SELECT count(pg_advisory_xact_lock(k)) AS held
  FROM unnest(${LOCKS}::int8[]) k WHERE NOT EXISTS (SELECT FROM fence)`,
  fingerprint: "decode(i.fingerprint, 'hex')",
  keys: "",
  key: "",
}

const triedLocks = (batch: Batch, parameters: Parameters): typeof WAITED => {
  let next = 0
  const keys = batch.events.map(({ event }) => (event.fingerprint === null ? null : batch.bodyKeys[next++]!))
  return {
    locks: `SELECT count(*) AS held, array_agg(t.k) FILTER (WHERE NOT t.acquired) AS missed
  FROM (SELECT k, pg_try_advisory_xact_lock(k) AS acquired FROM unnest(${LOCKS}::int8[]) k WHERE NOT EXISTS (SELECT FROM fence)) t`,
    fingerprint:
      "CASE WHEN i.body_key = ANY ((SELECT missed FROM locks)::int8[]) THEN NULL ELSE decode(i.fingerprint, 'hex') END",
    keys: `, ${parameters.add(int8Array(keys))}::int8[]`,
    key: ", body_key",
  }
}

/** Records which event created a column. */
const createdOf = (created: ReadonlyArray<CreatedColumn>, parameters: Parameters): string => `, made_for AS (
  UPDATE cabinet.field_column c SET created_by_event_id = k.id
  FROM unnest(${parameters.addRows(CREATED_COLUMNS, created).join(", ")})
    AS made(${CREATED_COLUMNS.names.join(", ")}) JOIN marked k ON k.n = made.n
  WHERE c.source_id = made.source_id AND c.name = made.name AND c.created_by_event_id IS NULL
)`

/**
 * Once one row of a source is deferred, all later ones are. The exception is a source whose row is locked while a
 * column is retyped: an accept waits for nobody here, and the drain finds the row without the flag.
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
  const parameters = new Parameters(batch)
  const rows = batch.tables.map((table, index) => rowsOf(table, index, parameters)).join("")
  const progress = batch.slices.length > 0 ? progressOf(batch.slices, parameters) : NO_PROGRESS
  const notices = batch.notices.length > 0 ? noticesOf(batch.notices, parameters) : NO_NOTICES
  const created = batch.created.length > 0 ? createdOf(batch.created, parameters) : ""
  const events = parameters.events(batch)
  const originals = parameters.originals(batch)
  const withheld = withheldOf(batch)
  const untaken = untakenOf(batch.tables, `NOT rows_deferred AND repeat_of IS NULL${withheld.waiting}`)
  const delivered = withheld.delivered + notices.delivered
  const filtered = batch.passed === null ? NO_FILTERS : filteredOf(batch.passed, delivered, parameters)
  const fanOut = batch.fansOut ? fannedOut(withheld.delivered, notices.about) : NOT_FANNED_OUT
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
  FROM locks CROSS JOIN cabinet.clock WHERE locks.held IS NOT NULL${progress.cte}${notices.cte}
), input AS MATERIALIZED (
  SELECT ${inputOf(events.names, bodies.fingerprint)}, i.n, s.rows_deferred OR i.waits AS rows_deferred${fanOut.input}
  FROM unnest(${events.arrays.join(", ")}${bodies.keys})
    WITH ORDINALITY AS i(${events.names.join(", ")}${bodies.key}, n)
  JOIN cabinet.source s ON s.id = i.source_id AND s.version = i.version AND s.archived_at IS NULL AND s.deleted_at IS NULL${inputFilter(progress.filter, notices.filter)}
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
), deliveries AS (
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT a.id, k.id, k.at, k.at
  FROM marked k CROSS JOIN LATERAL (
    SELECT n.address_id AS id FROM cabinet.subscription n WHERE n.source_id IN (0, k.source_id) AND n.until_event IS NULL OFFSET 0
  ) a
  WHERE ${IS_DELIVERED}${fanOut.others}${delivered}${filtered.beside}
  RETURNING 1
)${fanOut.made}${created}${progress.made}${waitingSources}
SELECT n::int4 AS n, id, repeat_of, (SELECT count(*) FROM deliveries)::int4 AS deliveries${fanOut.counted} FROM marked ORDER BY marked.n`,
  }
}
