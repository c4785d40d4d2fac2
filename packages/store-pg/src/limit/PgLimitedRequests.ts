/**
 * Counts of requests refused because of a rate, in PostgreSQL. They are collected for a second, so that a flood costs
 * one statement in that time; a killed process loses its unstored counts.
 */
import { LimitedRequests } from "@data-cabinet/core/limit/LimitedRequests"
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"

/** $1: sources, $2: counts. */
const COUNT_LIMITED = `
INSERT INTO cabinet.limited_requests AS r (source_id, count, since, last_at)
SELECT n.source_id, n.count, cabinet.now(), cabinet.now()
FROM unnest($1::int8[], $2::int8[]) AS n(source_id, count) JOIN cabinet.source s ON s.id = n.source_id
ORDER BY n.source_id
ON CONFLICT (source_id) DO UPDATE SET
  count = CASE WHEN r.last_at < excluded.since - interval '1 day' THEN excluded.count ELSE r.count + excluded.count END,
  since = CASE WHEN r.last_at < excluded.since - interval '1 day' THEN excluded.since ELSE r.since END,
  last_at = excluded.last_at`

/** The last day's, with the most first. */
export const LIMITED_LATELY = `
SELECT r.source_id::float8 AS "sourceId", s.name, r.count::float8 AS count, cabinet.rfc3339(r.since) AS since,
  cabinet.rfc3339(r.last_at) AS "lastAt"
FROM cabinet.limited_requests r JOIN cabinet.source s ON s.id = r.source_id
WHERE r.last_at > cabinet.now() - interval '1 day' AND s.deleted_at IS NULL
ORDER BY r.count DESC, r.source_id LIMIT 20`

/** The same of source `s`, as JSON. */
export const LIMITED_OF_SOURCE = `(
  SELECT json_build_object('count', r.count, 'since', cabinet.rfc3339(r.since), 'lastAt', cabinet.rfc3339(r.last_at))::text
  FROM cabinet.limited_requests r WHERE r.source_id = s.id AND r.last_at > cabinet.now() - interval '1 day')`

export const layer = Layer.effect(
  LimitedRequests,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const any = Latch.makeUnsafe(false)
    let pending = new Map<number, number>()
    const store = Effect.gen(function* () {
      yield* any.await
      any.closeUnsafe()
      const counts = pending
      pending = new Map()
      const sources = int8Array(Array.from(counts.keys(), BigInt))
      yield* sql.unsafe(COUNT_LIMITED, [sources, int8Array(Array.from(counts.values(), BigInt))])
    }).pipe(
      // Counts must not keep a server from its work; everything that needs the database reports when it is
      // unavailable.
      Effect.catchCause((cause) => Effect.logWarning("counts of requests over a rate were not stored", cause)),
      Effect.andThen(Effect.sleep("1 second")),
    )
    yield* Effect.forkScoped(Effect.forever(store))
    return LimitedRequests.of({
      count: (sourceId) => {
        pending.set(sourceId, (pending.get(sourceId) ?? 0) + 1)
        any.openUnsafe()
      },
    })
  }),
)
