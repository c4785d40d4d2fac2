/**
 * Counts of requests whose sender could not be verified, in PostgreSQL. They are collected for a second, so that a
 * flood of forgeries costs one statement in that time; a killed process loses its unstored counts.
 */
import { type RefusalReason, RefusedSignatures } from "@data-cabinet/core/verification/VerifySender"
import { PgClient } from "@effect/sql-pg"
import { Effect, Latch, Layer } from "effect"
import { int8Array, textArray } from "../connection/Parameter.ts"

/** $1: sources, $2: reasons, $3: counts. */
const COUNT_REFUSED = `
INSERT INTO cabinet.refused_signature AS r (source_id, reason, count, since, last_at)
SELECT n.source_id, n.reason, n.count, cabinet.now(), cabinet.now()
FROM unnest($1::int8[], $2::text[], $3::int8[]) AS n(source_id, reason, count) JOIN cabinet.source s ON s.id = n.source_id
ORDER BY n.source_id, n.reason
ON CONFLICT (source_id, reason) DO UPDATE SET
  count = CASE WHEN r.last_at < excluded.since - interval '1 day' THEN excluded.count ELSE r.count + excluded.count END,
  since = CASE WHEN r.last_at < excluded.since - interval '1 day' THEN excluded.since ELSE r.since END,
  last_at = excluded.last_at`

/** $1: source. For use after a change of how it is verified. */
export const FORGET_REFUSED = `DELETE FROM cabinet.refused_signature WHERE source_id = $1`

/** The last day's, with the most first. */
export const REFUSED_LATELY = `
SELECT r.source_id::float8 AS "sourceId", s.name, s.verify->>'recipe' AS recipe, r.reason, r.count::float8 AS count,
  cabinet.rfc3339(r.since) AS since, cabinet.rfc3339(r.last_at) AS "lastAt"
FROM cabinet.refused_signature r JOIN cabinet.source s ON s.id = r.source_id
WHERE r.last_at > cabinet.now() - interval '1 day' AND s.deleted_at IS NULL AND s.verify IS NOT NULL
ORDER BY r.count DESC, r.source_id, r.reason LIMIT 20`

interface Refused {
  readonly sourceId: number
  readonly reason: RefusalReason
  count: number
}

export const layer = Layer.effect(
  RefusedSignatures,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const any = Latch.makeUnsafe(false)
    let pending = new Map<string, Refused>()
    const store = Effect.gen(function* () {
      yield* any.await
      any.closeUnsafe()
      const refused = [...pending.values()]
      pending = new Map()
      const sources = int8Array(refused.map(({ sourceId }) => BigInt(sourceId)))
      const reasons = textArray(refused.map(({ reason }) => reason))
      const counts = int8Array(refused.map(({ count }) => BigInt(count)))
      yield* sql.unsafe(COUNT_REFUSED, [sources, reasons, counts])
    }).pipe(
      // Counts must not keep a server from its work; everything that needs the database reports that it is away.
      Effect.catchCause((cause) => Effect.logWarning("counts of refused signatures were not stored", cause)),
      Effect.andThen(Effect.sleep("1 second")),
    )
    yield* Effect.forkScoped(Effect.forever(store))
    return RefusedSignatures.of({
      count: (sourceId, reason) => {
        const key = `${sourceId} ${reason}`
        const known = pending.get(key)
        if (known === undefined) pending.set(key, { sourceId, reason, count: 1 })
        else known.count++
        any.openUnsafe()
      },
    })
  }),
)
