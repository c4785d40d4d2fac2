/**
 * How an accept statement takes the locks of its batch's bodies, and finds the first event of each body, by which
 * repeats are marked.
 */
import { int8Array } from "../connection/Parameter.ts"
import type { Batch } from "./Batch.ts"
import { LOCKS, type AcceptParameters } from "./AcceptParameters.ts"

/**
 * Finds each body's first event from the repeat windows of the batch. If no two bodies of the batch are equal, only
 * firsts from before the batch are looked up: their ids are below all ids of the batch, which are assigned once the locks
 * of its bodies are held.
 */
export const firstsOf = (distinct: boolean) =>
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

/**
 * How a batch acquires the locks of its bodies: it waits for them or, if a foreign session holds one, only tries. An
 * event whose lock is not acquired counts as neither a repeat nor a first, because without the lock it might get a
 * lower id than its first. It is accepted nevertheless.
 */
export type BodyLockMode = "wait" | "try"

/** Waits for the locks: the usual case. */
export const WAITED = {
  locks: `SELECT count(pg_advisory_xact_lock(k)) AS held
  FROM unnest(${LOCKS}::int8[]) k WHERE NOT EXISTS (SELECT FROM fence)`,
  fingerprint: "decode(i.fingerprint, 'hex')",
  keys: "",
  key: "",
}

/** Only tries the locks. */
export const triedLocks = (batch: Batch, parameters: AcceptParameters): typeof WAITED => {
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
