/**
 * Counts requests by minutes of the wall clock, exactly over all processes: one upsert a request, in an unlogged table.
 * A subject that is over its limit is remembered until the minute ends, so that a flood of refused requests costs the
 * database nothing. Counts begin anew after a database crash.
 */
import { Admission, type Allowance } from "@data-cabinet/core/limit/Admission"
import { rateSubject } from "@data-cabinet/core/limit/RateSubject"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Clock, Effect, Layer, Schedule } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

export interface AdmissionOptions {
  /** Requests a minute a key. */
  readonly apiRate: number
  /** Requests a minute a source and a client address; 0 for no limit. */
  readonly intakeRate: number
}

interface Counted {
  readonly count: number
  readonly retry_after: number
}

const MINUTE = `SELECT n.at, date_trunc('minute', n.at, 'UTC') AS minute FROM (SELECT cabinet.now() AS at) n`

const UPSERT = `
  ON CONFLICT (subject) DO UPDATE SET
    count = CASE WHEN w.minute = excluded.minute THEN w.count + 1 ELSE 1 END, minute = excluded.minute, last_at = excluded.last_at`

const RETRY_AFTER = `greatest(1, ceil(extract(epoch FROM w.minute + interval '1 minute' - w.last_at)))::int4 AS retry_after`

const COUNT_KEY = `
WITH moment AS MATERIALIZED (${MINUTE})
INSERT INTO cabinet.rate_window AS w (subject, minute, count, last_at)
SELECT 'key:' || k.id, m.minute, 1, m.at FROM cabinet.api_key k, moment m WHERE k.fingerprint = $1 AND k.revoked_at IS NULL${UPSERT}
RETURNING substr(w.subject, 5)::text AS id, w.count, ${RETRY_AFTER}`

const COUNT_SUBJECT = `
WITH moment AS MATERIALIZED (${MINUTE})
INSERT INTO cabinet.rate_window AS w (subject, minute, count, last_at)
SELECT $1, m.minute, 1, m.at FROM moment m${UPSERT}
RETURNING w.count, ${RETRY_AFTER}`

/** Windows of minutes gone by; what they say of a key's last request is written to the key first. */
const FORGET = [
  `UPDATE cabinet.api_key k SET last_request_at = w.last_at FROM cabinet.rate_window w
   WHERE w.subject = 'key:' || k.id AND w.last_at > coalesce(k.last_request_at, '-infinity')`,
  `DELETE FROM cabinet.rate_window WHERE ctid IN (
     SELECT ctid FROM cabinet.rate_window WHERE minute < cabinet.now() - interval '2 minutes' LIMIT 10000 FOR UPDATE SKIP LOCKED)`,
]

const UNLIMITED: Allowance = { allowed: true, limit: 0, remaining: 0, retryAfter: 0 }

export const layer = (options: AdmissionOptions) =>
  Layer.effect(
    Admission,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const blocked = new Map<string, number>()

      const allowance = (limit: number, counted: Counted): Allowance => ({
        allowed: counted.count <= limit,
        limit,
        remaining: Math.max(0, limit - counted.count),
        retryAfter: counted.retry_after,
      })

      const countSubject = Effect.fnUntraced(function* (subject: string, limit: number) {
        const now = yield* Clock.currentTimeMillis
        const until = blocked.get(subject)
        if (until !== undefined) {
          if (now < until) return { allowed: false, limit, remaining: 0, retryAfter: Math.ceil((until - now) / 1000) }
          blocked.delete(subject)
        }
        const [counted] = yield* sql.unsafe<Counted>(COUNT_SUBJECT, [subject])
        const result = allowance(limit, counted!)
        if (!result.allowed) {
          if (blocked.size > 100_000) blocked.clear()
          blocked.set(subject, now + result.retryAfter * 1000)
        }
        return result
      }, orUnavailable)

      yield* Effect.forEach(FORGET, (statement) => sql.unsafe(statement), { discard: true }).pipe(
        Effect.catchCause((cause) => Effect.logDebug("rate windows were not emptied", cause)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.delay("1 minute"),
        Effect.forkScoped,
      )

      return Admission.of({
        key: Effect.fnUntraced(function* (fingerprint) {
          const [counted] = yield* sql.unsafe<Counted & { id: string }>(COUNT_KEY, [fingerprint])
          if (counted === undefined) return null
          return { keyId: Number(counted.id), ...allowance(options.apiRate, counted) }
        }, orUnavailable),
        intakeClient: (ip) =>
          options.intakeRate === 0 ? Effect.succeed(UNLIMITED) : countSubject(rateSubject(ip), options.intakeRate),
        intakeSource: (sourceId) =>
          options.intakeRate === 0 ? Effect.succeed(UNLIMITED) : countSubject(`source:${sourceId}`, options.intakeRate),
      })
    }),
  )
