/**
 * Claims due deliveries, fairly over addresses, together with the texts of their events.
 *
 * Decision: docs/decisions/0064-the-rate-of-an-address-is-kept-by-its-claims.md
 */
import type { Channel } from "@data-cabinet/core/event/EventLog"
import type { ClaimRequest } from "@data-cabinet/core/delivery/DeliveryQueue"

/** An address that has deliveries of the claim. */
export interface AddressRow {
  readonly id: null
  /** `RecipientRow` as JSON. */
  readonly recipient: string
}

/**
 * A claimed delivery as the database returns it: ids are doubles, which hold them exactly; moments and the payload are
 * bytes as PostgreSQL sends them.
 */
export interface ClaimedRow {
  readonly id: number
  readonly address_id: number
  readonly type: "event.received" | "ping"
  /** Deliveries a second, and after how many milliseconds the first of these may be sent; null without a rate. */
  readonly rate: number | null
  readonly pace_millis: number | null
  readonly attempt: number
  readonly failures: number
  readonly created_at: Uint8Array
  /** The event, but for a ping. */
  readonly event_id: number | null
  readonly source_id: number | null
  readonly source_name: string | null
  readonly channel: Channel | null
  readonly received_at: Uint8Array | null
  readonly payload: Uint8Array | null
  readonly repeat_of: number | null
  readonly history: boolean | null
  readonly verified: boolean | null
}

/** A new ping, with its address. */
export type PingRow = ClaimedRow & Omit<AddressRow, "id">

const AT = "(SELECT at FROM clock)"

/** The columns of `taken`. */
const NO_DELIVERY = Array.from({ length: 17 }, () => "NULL").join(", ")

/** Of an address. */
const RECIPIENT = `json_build_object('address_id', a.id, 'url', a.url, 'secret', a.secret,
    'previous_secret', CASE WHEN a.previous_secret_until > ${AT} THEN a.previous_secret END, 'headers', a.headers::text,
    'client_certificate', a.client_certificate, 'client_key', a.client_key, 'timeout_seconds', a.timeout_seconds,
    'body', a.body::text)::text AS recipient`

/** Deliveries to an address with a rate are claimed no earlier than this before their time. */
const CLAIMED_AHEAD = "interval '0.5 seconds'"

/**
 * When the next delivery to an address may be sent. A time too far ahead is disregarded: no claim leaves one, so the
 * clock was set back.
 */
const NEXT_AT =
  "CASE WHEN p.next_at BETWEEN clock.at AND clock.at + interval '2 seconds' THEN p.next_at ELSE clock.at END"

/**
 * An address that responds stays in the healthy lane for a while, at a pace that falls with each failure. In the other
 * lane, an address that fails only now and then would never catch up.
 */
const FAILS = `(a.failing_since IS NOT NULL
    AND (a.unanswered OR a.failing_since <= (SELECT at FROM clock) - interval '10 seconds'))`

/** Addresses with a room of their own, sorted: a binary search finds one, however many there are. */
const KNOWN = "(SELECT $1::bigint[])"

/** The room of each address without one of its own. */
const ROOM = "(SELECT $3::int)"

/** The first address after another one that has a due delivery: one look into an index, however many have none. */
const nextWithWork = (after: string): string => `
    SELECT d.address_id AS id FROM cabinet.delivery d
    WHERE d.state = 'due' AND d.address_id > ${after} ORDER BY d.address_id LIMIT 1`

/** Walks the addresses with due deliveries in the order of their ids, as a recursive query of this name. */
const walk = (name: string, after: string, until = ""): string => `
    SELECT n.id FROM (${nextWithWork(after)}) n${until && ` WHERE n.id <= ${until}`}
    UNION ALL
    SELECT n.id FROM ${name} w CROSS JOIN LATERAL (${nextWithWork("w.id")}) n${until && ` WHERE n.id <= ${until}`}`

/** $1: addresses with a room of their own, sorted, $2: those rooms, $4: whether the lane is `failing`. Of the addresses that `walked` has. */
const withRoom = (walked: string, pace: string): string => `${walked} w CROSS JOIN LATERAL (
    SELECT a.* FROM cabinet.address a
    WHERE a.id = w.id AND a.removed_at IS NULL AND a.paused_at IS NULL AND ${FAILS} = (SELECT $4::boolean) LIMIT 1
  ) a CROSS JOIN LATERAL (
    SELECT coalesce(CASE WHEN ${KNOWN}[n.nth] = w.id THEN (SELECT $2::int[])[n.nth] END, ${ROOM}) AS room
    FROM (SELECT width_bucket(w.id, ${KNOWN}) AS nth OFFSET 0) n
  ) r LEFT JOIN LATERAL (
    SELECT ${NEXT_AT} AS next_at FROM cabinet.address_pace p CROSS JOIN clock WHERE p.address_id = w.id LIMIT 1${pace}
  ) pace ON true
  WHERE r.room > 0`

/** How many deliveries to an address with a rate may be sent now; null for an address without a rate. */
const SLOTS = `CASE WHEN a.rate IS NOT NULL
    THEN coalesce(floor(extract(epoch FROM (SELECT at FROM clock) + ${CLAIMED_AHEAD} - pace.next_at) * a.rate)::int + 1, 0) END`

/** A lost attempt is the last one; without one, the columns keep their values, and no index changes. */
const LOST_LAST = `last_at = coalesce(f.claimed_at, d.last_at),
      outcome = CASE WHEN f.claimed_at IS NULL THEN d.outcome ELSE 'no_answer' END`

/**
 * $5: the address after which the round begins, $6: how many in total, $7: seconds of lease.
 *
 * The row locks of \`picked\` skip deliveries that another worker is claiming. A due delivery that still has
 * \`claimed_at\` was claimed by a worker that never settled it: that attempt is recorded as lost, and a lost ping ends.
 * An attempt from a day that the log has already dropped, for example after a long pause, is not recorded: its
 * partition no longer exists.
 *
 * PostgreSQL keeps the plan that it made while the tables were small. To keep that plan good for large tables, each row
 * is looked up by its key: by a LATERAL with a LIMIT, and, for updates, by \`= ANY (ARRAY[…])\`, which rules out a join
 * that reads the whole table.
 *
 * Addresses without a due delivery cost nothing: the index of due deliveries is walked from address to address, behind
 * the one of the last round and then from the first, until enough deliveries are found.
 *
 * Of an address with a rate, no more deliveries are claimed than may be sent soon, and a claim uses up their times for
 * all other workers: its row in \`pace\` is locked, and a worker that finds it locked claims none of that address.
 *
 * It keeps the plan only while it estimates that a custom one would be no cheaper, and planning takes longer than the
 * claim. So a custom plan must not know more than the generic one: that is why each parameter is read by a subquery.
 *
 * After the deliveries come their addresses, each once: repeated with every delivery, they cost as much as its event.
 */
export const CLAIM = `
  WITH RECURSIVE clock AS MATERIALIZED (SELECT cabinet.now() AS at),
  later AS (${walk("later", "(SELECT $5::bigint)")}),
  earlier AS (${walk("earlier", "0", "(SELECT $5::bigint)")}),
  turn AS MATERIALIZED (
    SELECT a.id, a.rate, pace.next_at, greatest(least(r.room, ${SLOTS}), 0) AS room
    FROM ${withRoom("(SELECT id FROM later UNION ALL SELECT id FROM earlier)", " FOR UPDATE OF p SKIP LOCKED")}
  ),
  picked AS MATERIALIZED (
    SELECT d.*, turn.rate, turn.next_at
    FROM turn CROSS JOIN LATERAL (
      SELECT d.id, d.event_id, d.address_id, d.type, d.attempts, d.claimed_at FROM cabinet.delivery d
      WHERE d.address_id = turn.id AND d.state = 'due' AND d.due_at <= (SELECT at FROM clock)
        AND (d.leased_until IS NULL OR d.leased_until <= (SELECT at FROM clock))
      ORDER BY d.due_at LIMIT turn.room FOR UPDATE SKIP LOCKED
    ) d LIMIT (SELECT $6::int)
  ),
  fate AS MATERIALIZED (
    SELECT p.*, e.source_id, e.source_name, e.channel, e.received_at, e.payload, e.repeat_of, e.history, e.verified, CASE
      WHEN p.type = 'ping' AND p.claimed_at IS NOT NULL THEN 'failed'
      WHEN p.type <> 'ping' AND e.source_id IS NULL THEN 'cancelled'
      ELSE 'due' END AS state
    FROM picked p LEFT JOIN LATERAL (
      SELECT e.source_id, s.name AS source_name, e.channel, e.received_at, e.payload, e.repeat_of, e.history, e.verified
      FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id
      WHERE e.id = p.event_id AND e.deleted_at IS NULL LIMIT 1
    ) e ON true
  ),
  lost AS (
    INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, failure, next_at)
    SELECT f.id, f.attempts, f.address_id, f.claimed_at, false,
      least(extract(epoch FROM (SELECT at FROM clock) - f.claimed_at) * 1000, 2147483647)::int,
      'the worker ended before it could write down what came of it; the request may have been sent',
      CASE WHEN f.state = 'due' THEN (SELECT at FROM clock) END
    FROM fate f WHERE f.claimed_at IS NOT NULL AND f.claimed_at >= (
      SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp AT TIME ZONE 'UTC' FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'cabinet.attempt_failed'::regclass AND NOT i.inhdetachpending)
  ),
  ended AS (
    UPDATE cabinet.delivery d SET state = f.state, claimed_at = NULL, leased_until = NULL, ${LOST_LAST}
    FROM fate f WHERE d.id = ANY (ARRAY[f.id]) AND f.state <> 'due'
  ),
  paced AS (
    UPDATE cabinet.address_pace p SET next_at = f.next_at + make_interval(secs => f.seconds)
    FROM (
      SELECT address_id, min(next_at) AS next_at, count(*)::float8 / min(rate) AS seconds FROM fate
      WHERE rate IS NOT NULL AND state = 'due' GROUP BY address_id
    ) f WHERE p.address_id = ANY (ARRAY[f.address_id])
  ),
  taken AS (
    UPDATE cabinet.delivery d SET attempts = d.attempts + 1, claimed_at = (SELECT at FROM clock),
      leased_until = (SELECT at FROM clock) + make_interval(secs => (SELECT $7::float8)), ${LOST_LAST}
    FROM fate f WHERE d.id = ANY (ARRAY[f.id]) AND f.state = 'due'
    RETURNING d.id::float8 AS id, d.type, d.address_id::float8 AS address_id, f.rate,
      (extract(epoch FROM f.next_at - (SELECT at FROM clock)) * 1000)::float8 AS pace_millis, d.attempts AS attempt, d.failures, timestamptz_send(d.created_at) AS created_at,
      f.event_id::float8 AS event_id, f.source_id::float8 AS source_id, f.source_name, f.channel,
      timestamptz_send(f.received_at) AS received_at, json_send(f.payload) AS payload,
      f.repeat_of::float8 AS repeat_of, f.history, f.verified
  )
  SELECT *, NULL AS recipient FROM taken
  UNION ALL
  SELECT ${NO_DELIVERY}, a.recipient FROM (SELECT DISTINCT address_id::bigint AS id FROM taken) t CROSS JOIN LATERAL (
    SELECT ${RECIPIENT} FROM cabinet.address a WHERE a.id = t.id LIMIT 1
  ) a`

/** $1: address, $2: seconds of lease. Creates a ping that is already claimed. No row if the address does not exist. */
export const CLAIM_NEW_PING = `
  WITH clock AS MATERIALIZED (SELECT cabinet.now() AS at),
  taken AS (
    INSERT INTO cabinet.delivery (address_id, type, attempts, created_at, due_at, claimed_at, leased_until)
    SELECT a.id, 'ping', 1, at, at, at, at + make_interval(secs => $2::float8)
    FROM cabinet.address a, clock WHERE a.id = $1::bigint AND a.removed_at IS NULL
    RETURNING id, type, address_id, attempts, failures, created_at
  )
  SELECT t.id::float8 AS id, t.type, t.address_id::float8 AS address_id, ${RECIPIENT},
    NULL::int AS rate, NULL::float8 AS pace_millis, t.attempts AS attempt, t.failures, timestamptz_send(t.created_at) AS created_at, NULL::bytea AS payload
  FROM taken t JOIN cabinet.address a ON a.id = t.address_id`

/** $1: deliveries, $2: the attempts that they were claimed for. The numbers of those attempts stay used. */
export const RELEASE = `
  UPDATE cabinet.delivery d SET claimed_at = NULL, leased_until = NULL
  FROM unnest($1::bigint[], $2::int[]) AS t (id, attempt)
  WHERE d.id = ANY (ARRAY[t.id]) AND d.attempts = t.attempt AND d.claimed_at IS NOT NULL`

/** Milliseconds until the first delivery that such a claim could take, disregarding leases that end. */
export const NEXT_DUE = `
  WITH RECURSIVE clock AS MATERIALIZED (SELECT cabinet.now() AS at),
  waiting AS (${walk("waiting", "0")})
  SELECT (extract(epoch FROM min(greatest(d.due_at, a.next_at - ${CLAIMED_AHEAD})) - (SELECT at FROM clock)) * 1000)::float8 AS millis
  FROM (SELECT a.id, pace.next_at FROM ${withRoom("waiting", "")}) a CROSS JOIN LATERAL (
    SELECT d.due_at FROM cabinet.delivery d
    WHERE d.address_id = a.id AND d.state = 'due' AND (d.leased_until IS NULL OR d.leased_until <= (SELECT at FROM clock))
    ORDER BY d.due_at LIMIT 1
  ) d`

/** The first four parameters of both statements. */
export const roomParameters = ({ lane, perAddress, room }: Pick<ClaimRequest, "lane" | "perAddress" | "room">) => {
  const ids = [...room.keys()].toSorted((one, other) => one - other)
  return [ids, ids.map((id) => room.get(id)!), perAddress, lane === "failing"]
}
