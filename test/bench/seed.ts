/**
 * Data by the million, made by SQL: events as they would stand there, in an epoch before the server's own, so that the
 * feed shows them at once.
 */
import { CHANNEL } from "@data-cabinet/store-pg/delivery/PgDeliverySignal"
import type { Cluster } from "./cluster.ts"

const PAYLOAD = `json_build_object('order', lpad(n::text, 12, '0'), 'customer', 'Ada Lovelace', 'email', 'ada@example.com',
  'city', 'Würzburg', 'total', 1249.5, 'currency', 'EUR', 'paid', true, 'items', 3, 'placed_at', '2026-11-21T10:15:30Z',
  'note', 'Please ring twice, the bell is broken', 'channel', 'web-shop')`

/**
 * Large enough that a million events use transaction ids below a fresh cluster's counter, so that plain's fence lets
 * them pass.
 */
const EVENTS_A_TRANSACTION = 2000

/** Events of the first source, numbered on from the last; each with its place in a transaction. */
export const seedEvents = (cluster: Cluster, url: string, count: number) =>
  cluster.run(
    url,
    `INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
     SELECT 1, id / ${EVENTS_A_TRANSACTION}, id, 1, now(), 'webhook', false, false, ${PAYLOAD}
     FROM (SELECT n, nextval('cabinet.event_id') AS id FROM generate_series(1, ${count}) n) e`,
    "VACUUM ANALYZE cabinet.event",
  )

/**
 * One delivery of each of the newest events to each of the addresses: `count` in total, due now; workers are notified.
 */
export const seedDeliveries = (cluster: Cluster, url: string, addresses: ReadonlyArray<number>, count: number) =>
  cluster.run(
    url,
    `INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
     SELECT a.id, e.id, cabinet.now(), cabinet.now()
     FROM (SELECT id FROM cabinet.event ORDER BY id DESC LIMIT ${Math.ceil(count / addresses.length)}) e
     CROSS JOIN unnest(ARRAY[${addresses.join(",")}]) a(id)`,
    `NOTIFY ${CHANNEL}`,
  )

/** The same events in the table of the yardstick plainFeed. */
export const seedPlainEvents = (cluster: Cluster, url: string, count: number) =>
  cluster.run(
    url,
    `CREATE TABLE event (
       id bigint PRIMARY KEY, xid bigint NOT NULL, source_id int NOT NULL, source_name text NOT NULL, channel text NOT NULL,
       received_at timestamptz NOT NULL, repeat_of bigint, history boolean NOT NULL, deleted_at timestamptz,
       payload jsonb NOT NULL)`,
    `INSERT INTO event SELECT n, n / ${EVENTS_A_TRANSACTION}, 1, 'My first source', 'webhook', now(), NULL, false, NULL,
       ${PAYLOAD}::jsonb FROM generate_series(1, ${count}) n`,
    "CREATE INDEX ON event (xid, id)",
    "VACUUM ANALYZE event",
  )
