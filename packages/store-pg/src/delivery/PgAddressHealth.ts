/** The health of addresses: the last attempt of each, and how many deliveries wait for it. */
import { MOST_WAITING } from "@data-cabinet/core/activity/ActivityStore"
import type { AddressHealth } from "@data-cabinet/core/delivery/AddressStore"
import { outcomeOf } from "@data-cabinet/core/delivery/Attempt"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

/** The health of an address, as the database returns it. */
interface HealthRow {
  readonly id: number
  readonly at: string | null
  readonly status: number | null
  readonly failure: string | null
  readonly durationMs: number | null
  readonly waiting: number
}

/** $1: addresses. */
const HEALTH = `
SELECT a.id::float8 AS id, cabinet.rfc3339(t.at) AS at, t.status, t.failure, t.duration_ms AS "durationMs", w.waiting::int4 AS waiting
FROM unnest($1::int8[]) WITH ORDINALITY a (id, place) LEFT JOIN LATERAL (
  SELECT t.at, t.status, t.failure, t.duration_ms FROM cabinet.attempt t WHERE t.address_id = a.id ORDER BY t.at DESC LIMIT 1
) t ON true CROSS JOIN LATERAL (
  SELECT count(*) AS waiting FROM (
    SELECT FROM cabinet.delivery d WHERE d.address_id = a.id AND d.state = 'due' LIMIT ${MOST_WAITING}
  ) d
) w
ORDER BY a.place`

const healthOf = ({ id, waiting, at, durationMs, ...last }: HealthRow): AddressHealth => ({
  id,
  waiting,
  last: at === null || durationMs === null ? null : { at, durationMs, outcome: outcomeOf(last), ...last },
})

export const addressHealth = (sql: PgClient.PgClient, ids: ReadonlyArray<number>) =>
  orUnavailable(Effect.map(sql.unsafe<HealthRow>(HEALTH, [ids]), (rows) => rows.map(healthOf)))
