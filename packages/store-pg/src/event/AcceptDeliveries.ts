/** The parts of an accept statement that write its events' deliveries, or leave them to a follower. */
import { type Batch, type BatchPassed, QUEUED_COLUMNS, PASSED_COLUMNS } from "./Batch.ts"
import type { AcceptParameters } from "./AcceptParameters.ts"

/**
 * Events of unverified senders are not delivered: the statement proves that the version of the source that judged them
 * is current. Spam is only an event, with no row now or later.
 */
export const withheldOf = ({ hasVerdicts, hasSpam }: Batch) => ({
  delivered: `${hasVerdicts ? " AND k.verified IS NOT FALSE" : ""}${hasSpam ? " AND k.spam IS NULL" : ""}`,
  waiting: hasSpam ? " AND spam IS NULL" : "",
})

/** Which events `k` are delivered. */
const IS_DELIVERED = "k.repeat_of IS NULL AND NOT k.empty AND NOT k.history"

/**
 * Addresses with a filter are sent the events that were found to pass it: the version of the source proves that these
 * are its addresses and their filters.
 */
export const filteredOf = (passed: ReadonlyArray<BatchPassed>, delivered: string, parameters: AcceptParameters) => ({
  beside: `
  UNION ALL
  SELECT a.id, k.id, k.at, k.at
  FROM unnest(${parameters.addRows(PASSED_COLUMNS, passed).join(", ")}) AS p(${PASSED_COLUMNS.names.join(", ")})
  JOIN marked k ON k.n = p.n JOIN cabinet.address a ON a.id = p.address_id AND a.removed_at IS NULL AND a.filters IS NOT NULL
  WHERE ${IS_DELIVERED}${delivered}
  ORDER BY 2`,
})

/**
 * Events that pass many filters leave one row: a follower writes their deliveries. The arrays are read by position, as the
 * planner cannot estimate a join with them.
 */
export const queuedOf = (
  queued: NonNullable<Batch["queued"]>,
  withheld: string,
  parameters: AcceptParameters,
): string => {
  const [ids] = parameters.addRows(QUEUED_COLUMNS, queued)
  return `, queued AS (
  INSERT INTO cabinet.filtered_fan_out (event_id, at, address_ids)
  SELECT k.id, k.at, (${ids})[k.n]::int8[] FROM marked k
  WHERE (${ids})[k.n] <> '{}' AND ${IS_DELIVERED}${withheld} ORDER BY k.id
)`
}

/** No address has a filter. */
export const NO_FILTERS: ReturnType<typeof filteredOf> = {
  beside: `
  ORDER BY k.id`,
}

/** `conditions`: more conditions of an event `k`, each with its AND. */
export const deliveriesOf = (conditions: string, { beside }: ReturnType<typeof filteredOf>) => ({
  made: `, deliveries AS (
  INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
  SELECT a.id, k.id, k.at, k.at
  FROM marked k CROSS JOIN LATERAL (
    SELECT n.address_id AS id FROM cabinet.subscription n WHERE n.source_id IN (0, k.source_id) AND n.until_event IS NULL OFFSET 0
  ) a
  WHERE ${IS_DELIVERED}${conditions}${beside}
  RETURNING 1
)`,
  counted: "(SELECT count(*) FROM deliveries)::int4",
})

/** All events of the batch are history, as those of an import are. */
export const NO_DELIVERIES: ReturnType<typeof deliveriesOf> = { made: "", counted: "0" }

/**
 * Sources with many addresses: a follower writes their deliveries, and accepting an event costs the same for all of them.
 *
 * Decision: docs/decisions/0089-many-deliveries-are-written-behind-the-accept.md
 */
export const fannedOut = (withheld: string, about: string) => ({
  input: ", s.fans_out",
  others: " AND NOT k.fans_out",
  made: `, fan_outs AS (
  INSERT INTO cabinet.fan_out (as_of, event_id, source_id, at, except_address)
  SELECT k.id, k.id, k.source_id, k.at, ${about} FROM marked k WHERE k.fans_out AND ${IS_DELIVERED}${withheld} ORDER BY k.id
  RETURNING 1
)`,
  counted: ", (SELECT count(*) FROM fan_outs)::int4 AS fan_outs",
})

/** All deliveries are written by the statement itself. */
export const NOT_FANNED_OUT: ReturnType<typeof fannedOut> = { input: "", others: "", made: "", counted: "" }
