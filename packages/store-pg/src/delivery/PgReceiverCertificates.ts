/**
 * The ends of receivers' certificates, written some seconds after they were seen and only when they have changed. If
 * the process is killed before that, they are seen again with the next connection.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { textArray } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { ReceiverCertificates } from "@data-cabinet/core/delivery/Courier"

/** $1: origins, $2: ends. */
const WRITE = `
INSERT INTO cabinet.receiver_certificate AS c (origin, ends_at, seen_at)
SELECT n.origin, n.ends_at::timestamptz, cabinet.now() FROM unnest($1::text[], $2::text[]) AS n (origin, ends_at) ORDER BY n.origin
ON CONFLICT (origin) DO UPDATE SET ends_at = excluded.ends_at, seen_at = excluded.seen_at WHERE c.ends_at <> excluded.ends_at`

const MAX_KNOWN = 10_000

export const layer = Layer.effect(
  ReceiverCertificates,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    /** Written and pending ends of certificates, by origin. */
    const known = new Map<string, number>()
    const unwritten = new Map<string, number>()
    const write = Effect.suspend(() => {
      const seen = [...unwritten]
      if (seen.length === 0) return Effect.void
      const origins = textArray(seen.map(([origin]) => origin))
      const ends = textArray(seen.map(([, endsAt]) => new Date(endsAt).toISOString()))
      return Effect.map(sql.unsafe(WRITE, [origins, ends]), () => {
        if (known.size >= MAX_KNOWN) known.clear()
        for (const [origin, endsAt] of seen) {
          known.set(origin, endsAt)
          if (unwritten.get(origin) === endsAt) unwritten.delete(origin)
        }
      })
    })
    yield* background("receiver certificates", "5 seconds", orUnavailable(write), { quiet: true })
    return {
      saw: (origin, endsAt) => {
        if (known.get(origin) !== endsAt && unwritten.size < MAX_KNOWN) unwritten.set(origin, endsAt)
      },
    }
  }),
)
