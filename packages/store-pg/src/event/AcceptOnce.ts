/**
 * The parts of an accept statement by which requests are skipped whole: slices of an import that were already accepted,
 * notices whose cause was already recorded, and events whose proof of a person was already used.
 */
import {
  type BatchNotice,
  type BatchProof,
  type BatchSlice,
  NOTICE_COLUMNS,
  PROOF_COLUMNS,
  SLICE_COLUMNS,
} from "./Batch.ts"
import type { AcceptParameters } from "./AcceptParameters.ts"

/**
 * Advances the counts of imports, provided that each still stands where its slice begins. A slice that was already
 * accepted, by a lost runner or another one, finds its count advanced and is skipped whole. Records which events a
 * file's slice became.
 */
export const progressOf = (slices: ReadonlyArray<BatchSlice>, parameters: AcceptParameters) => {
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

/** The batch holds no slice of an import. */
export const NO_PROGRESS: ReturnType<typeof progressOf> = { cte: "", made: "", filter: "" }

/**
 * Records the causes of the batch's notices in the order of its key, so that two batches never deadlock. A request
 * whose cause was recorded before, or occurs twice in the batch, is skipped whole. A notice about an address is not
 * sent to it.
 */
export const noticesOf = (notices: ReadonlyArray<BatchNotice>, parameters: AcceptParameters) => {
  const arrays = parameters.addRows(NOTICE_COLUMNS, notices)
  const given = `unnest(${arrays.join(", ")}) AS c(${NOTICE_COLUMNS.names.join(", ")})`
  return {
    cte: `
), noticed AS MATERIALIZED (
  INSERT INTO cabinet.notice (kind, subject, instance, since, ends)
  SELECT c.kind, c.subject, c.instance, c.since::timestamptz, c.ends
  FROM locks, ${given}
  JOIN cabinet.source s ON s.id = c.source_id AND s.version = c.version AND s.archived_at IS NULL AND s.deleted_at IS NULL
  WHERE locks.held IS NOT NULL ORDER BY c.kind, c.subject, c.instance
  ON CONFLICT DO NOTHING RETURNING kind, subject, instance`,
    filter: `(i.request <> ALL (${arrays[0]}) OR i.request IN (
    SELECT min(c.request) FROM ${given} JOIN noticed USING (kind, subject, instance) GROUP BY kind, subject, instance))`,
    delivered: ` AND NOT EXISTS (SELECT FROM ${given} WHERE c.request = k.request AND c.about = a.id)`,
    about: `coalesce((SELECT max(c.about) FROM ${given} WHERE c.request = k.request), 0)`,
  }
}

/** The batch holds no notice. */
export const NO_NOTICES: ReturnType<typeof noticesOf> = { cte: "", filter: "", delivered: "", about: "0" }

/**
 * Records the proofs of the batch as used, in their order, so that two batches never deadlock: a second use waits for the
 * first one's commit. A request whose proof was used before, or is used twice in the batch, is skipped whole.
 */
export const proofsOf = (proofs: ReadonlyArray<BatchProof>, parameters: AcceptParameters) => {
  const arrays = parameters.addRows(PROOF_COLUMNS, proofs)
  const given = `unnest(${arrays.join(", ")}) AS p(${PROOF_COLUMNS.names.join(", ")})`
  return {
    cte: `
), proven AS MATERIALIZED (
  INSERT INTO cabinet.used_proof (id, until)
  SELECT p.id::uuid, to_timestamp(p.until / 1000.0)
  FROM locks, ${given}
  JOIN cabinet.source s ON s.id = p.source_id AND s.version = p.version AND s.archived_at IS NULL AND s.deleted_at IS NULL
  WHERE locks.held IS NOT NULL ORDER BY p.id
  ON CONFLICT DO NOTHING RETURNING id`,
    filter: `(i.request <> ALL (${arrays[0]}) OR i.request IN (
    SELECT min(p.request) FROM ${given} JOIN proven ON proven.id = p.id::uuid GROUP BY p.id))`,
  }
}

/** No event of the batch came with a proof. */
export const NO_PROOFS: ReturnType<typeof proofsOf> = { cte: "", filter: "" }
