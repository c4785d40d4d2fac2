/**
 * Records attempts and advances their deliveries, one batch at a time.
 *
 * Decision: docs/decisions/0070-giving-up-and-rates-of-senders.md
 */
import type { Outcome } from "@data-cabinet/core/delivery/Attempt"
import type { Settlement } from "@data-cabinet/core/delivery/DeliveryQueue"
import { storableMillis } from "../connection/Parameter.ts"

/**
 * The last parts of a statement that has the outcomes of attempts in `held` (address, whether delivered, status, type) and
 * the time in `clock`: updates the health of their addresses.
 */
export const ADDRESS_HEALTH = `health AS MATERIALIZED (
    SELECT a.id, h.delivered, NOT h.delivered AND (h.unanswered OR a.unanswered) AS unanswered, CASE
      WHEN a.paused_at IS NOT NULL THEN NULL
      WHEN h.gone AND a.pause_on_gone THEN 'gone'
      WHEN NOT h.delivered AND a.failing_since <= (SELECT at FROM clock) - make_interval(secs => a.give_up_after_seconds) THEN 'failing'
      END AS because
    FROM (
      SELECT address_id, bool_or(delivered) AS delivered, bool_or(status IS NULL) AS unanswered,
        coalesce(bool_or(status = 410), false) AS gone FROM held
      WHERE type <> 'ping' OR delivered GROUP BY address_id
    ) h JOIN cabinet.address a ON a.id = h.address_id
    WHERE (a.failing_since IS NULL) <> h.delivered OR (h.unanswered AND NOT h.delivered AND NOT a.unanswered) OR (h.gone AND a.pause_on_gone AND a.paused_at IS NULL)
      OR (NOT h.delivered AND a.paused_at IS NULL
        AND a.failing_since <= (SELECT at FROM clock) - make_interval(secs => a.give_up_after_seconds))
    ORDER BY a.id FOR NO KEY UPDATE OF a SKIP LOCKED
  )
  UPDATE cabinet.address a SET
    failing_since = CASE WHEN NOT h.delivered THEN coalesce(a.failing_since, (SELECT at FROM clock)) END,
    unanswered = h.unanswered,
    paused_at = CASE WHEN h.because IS NULL THEN a.paused_at ELSE (SELECT at FROM clock) END,
    paused_because = coalesce(h.because, a.paused_because)
  FROM health h WHERE a.id = h.id
  RETURNING CASE WHEN h.because IS NOT NULL THEN a.id::float8 END AS id, h.because`

/**
 * $1: the batch as JSON (see `settleParameter`).
 *
 * The rows are locked one by one in the order of their ids, by their keys (see `ClaimStatement`). An attempt is settled
 * only while its lease holds: its number is the delivery's current one, and the delivery is still claimed. A delivery
 * cancelled while its attempt was in flight stays cancelled, unless it was delivered after all; the response is not
 * stored, because the event may have been purged meanwhile, and a response may repeat what was sent. A delivery that
 * succeeds at its first attempt leaves the queue, and that attempt then identifies it. One that took longer stays,
 * because its failed attempts are kept longer. An address is updated to failing or healthy only when that changes, and
 * not while another session is changing it. It is paused when it has failed for as long as it may, or is gone; what waits for it
 * stays. Returns the addresses that were paused, and why.
 */
export const SETTLE = `
  WITH clock AS MATERIALIZED (SELECT cabinet.now() AS at),
  settled AS MATERIALIZED (
    SELECT t.*, delivered AND attempt = 1 AS leaves FROM json_to_recordset($1::json) AS t (
      id bigint, attempt int, delivered boolean, retry float8, ms int, timing int[], peer text, status int, failure text, response_body text)
    ORDER BY id
  ),
  held AS MATERIALIZED (
    SELECT t.id, t.attempt, t.delivered, t.ms, t.timing, t.peer, t.status, t.failure,
      CASE WHEN d.state = 'due' THEN t.response_body END AS response_body, d.address_id, d.claimed_at, d.type,
      CASE WHEN t.leaves THEN d.event_id END AS event_id, CASE WHEN t.leaves THEN d.created_at END AS created_at, t.leaves,
      CASE WHEN t.delivered THEN 'delivered' WHEN d.state <> 'due' THEN d.state WHEN t.retry IS NULL THEN 'failed' ELSE 'due' END AS state,
      CASE WHEN NOT t.delivered AND d.state = 'due' THEN (SELECT at FROM clock) + make_interval(secs => t.retry) END AS next_at
    FROM settled t CROSS JOIN LATERAL (
      SELECT d.address_id, d.event_id, d.created_at, d.claimed_at, d.type, d.state FROM cabinet.delivery d
      WHERE d.id = t.id AND d.attempts = t.attempt AND d.claimed_at IS NOT NULL LIMIT 1 FOR UPDATE
    ) d
  ),
  moved AS (
    UPDATE cabinet.delivery d SET state = h.state, claimed_at = NULL, leased_until = NULL,
      due_at = coalesce(h.next_at, d.due_at), last_at = h.claimed_at,
      outcome = CASE WHEN h.delivered THEN 'delivered' WHEN h.status IS NULL THEN 'no_answer'
        WHEN h.status BETWEEN 400 AND 499 THEN 'refused' ELSE 'error' END,
      failures = CASE WHEN h.delivered THEN 0 ELSE d.failures + 1 END
    FROM held h WHERE d.id = ANY (ARRAY[h.id]) AND NOT h.leaves
  ),
  gone AS (
    DELETE FROM cabinet.delivery d USING held h WHERE d.id = ANY (ARRAY[h.id]) AND h.leaves
  ),
  logged AS (
    INSERT INTO cabinet.attempt
      (delivery_id, number, address_id, at, delivered, duration_ms, timing, peer, status, failure, response_body, next_at, event_id,
       delivery_created_at)
    SELECT id, attempt, address_id, claimed_at, delivered, ms, timing, peer, status, failure, response_body, next_at, event_id, created_at
    FROM held
  ),
  ${ADDRESS_HEALTH}`

/** PostgreSQL cannot store U+0000 in text, or a lone surrogate in JSON. */
export const storable = (text: string | null) => text?.replaceAll("\u0000", "\uFFFD").toWellFormed() ?? null

const inArray = (millis: number | null) => (millis === null ? "NULL" : storableMillis(millis))

/** The phases of an outcome, in their order, as the text of an array: PostgreSQL reads that faster than one in JSON. */
export const storableTiming = ({ timing }: Pick<Outcome, "timing">): string | null => {
  if (timing === null) return null
  const { nameMs, connectMs, tlsMs, waitMs, bodyMs } = timing
  return `{${inArray(nameMs)},${inArray(connectMs)},${inArray(tlsMs)},${inArray(waitMs)},${inArray(bodyMs)}}`
}

/** JSON leaves out what is undefined, and what is left out is NULL. */
const orLeftOut = <A>(value: A | null): A | undefined => value ?? undefined

export const settleParameter = (batch: ReadonlyArray<Settlement>): string =>
  JSON.stringify(
    batch.map(({ deliveryId, attempt, outcome, next }) => ({
      id: deliveryId,
      attempt,
      delivered: next.state === "delivered",
      retry: next.state === "retry" ? next.afterSeconds : undefined,
      ms: storableMillis(outcome.durationMs),
      timing: orLeftOut(storableTiming(outcome)),
      peer: orLeftOut(outcome.peer),
      status: orLeftOut(outcome.status),
      failure: orLeftOut(storable(outcome.failure)),
      response_body: orLeftOut(storable(outcome.responseBody)),
    })),
  )
