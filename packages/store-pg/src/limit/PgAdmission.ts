/**
 * Counts requests by minutes of the wall clock, exactly over all processes: an upsert in an unlogged table, one for all
 * requests of this process that came at the same time (see FoldedCounts). A subject of the intake that is over its limit
 * is remembered until the minute ends, so that a flood of refused requests costs the database nothing. Counts begin anew
 * after a database crash.
 */
import { Admission, type Allowance } from "@data-cabinet/core/limit/Admission"
import { rateSubject } from "@data-cabinet/core/limit/RateSubject"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Clock, Effect, Layer, Schedule } from "effect"
import { byteaArray, int4Array, textArray } from "../connection/ArrayParameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type Counted, foldedCounts } from "./FoldedCounts.ts"

export interface AdmissionOptions {
  /** Requests a minute a key. */
  readonly apiRate: number
  /** Requests a minute a source and a client address; 0 for no limit. */
  readonly intakeRate: number
}

const MINUTE = `SELECT n.at, date_trunc('minute', n.at, 'UTC') AS minute FROM (SELECT cabinet.now() AS at) n`

/**
 * A request that read the clock at the end of a minute may have waited for one of the next minute: it counts to that one,
 * which must not begin anew once more. Further back than that only a clock can have gone that was set.
 */
const SAME = "w.minute BETWEEN excluded.minute AND excluded.minute + interval '1 minute'"

/** Rows are upserted in one order everywhere, so that no two folds wait for each other crosswise. */
const UPSERT = `
  ORDER BY 1
  ON CONFLICT (subject) DO UPDATE SET
    count = CASE WHEN ${SAME} THEN w.count + excluded.count ELSE excluded.count END,
    minute = CASE WHEN ${SAME} THEN w.minute ELSE excluded.minute END,
    last_at = CASE WHEN ${SAME} THEN greatest(w.last_at, excluded.last_at) ELSE excluded.last_at END`

const RETRY_AFTER = `greatest(1, ceil(extract(epoch FROM w.minute + interval '1 minute' - w.last_at)))::int4 AS retry_after`

const COUNT_KEYS = `
WITH moment AS MATERIALIZED (${MINUTE}), live AS MATERIALIZED (
  SELECT k.id, encode(k.fingerprint, 'hex') AS subject, asked.n
  FROM unnest($1::bytea[], $2::int4[]) AS asked(fingerprint, n) JOIN cabinet.api_key k ON k.fingerprint = asked.fingerprint
  WHERE k.revoked_at IS NULL
), counted AS (
  INSERT INTO cabinet.rate_window AS w (subject, minute, count, last_at)
  SELECT 'key:' || l.id, m.minute, l.n, m.at FROM live l, moment m${UPSERT}
  RETURNING w.subject, w.count, ${RETRY_AFTER}
)
SELECT l.subject, l.id::text AS id, c.count, c.retry_after FROM counted c JOIN live l ON c.subject = 'key:' || l.id`

const COUNT_SUBJECTS = `
WITH moment AS MATERIALIZED (${MINUTE})
INSERT INTO cabinet.rate_window AS w (subject, minute, count, last_at)
SELECT asked.subject, m.minute, asked.n, m.at FROM unnest($1::text[], $2::int4[]) AS asked(subject, n), moment m${UPSERT}
RETURNING w.subject, w.count, ${RETRY_AFTER}`

/** Windows of minutes gone by; what they say of a key's last request is written to the key first. */
const FORGET = [
  `UPDATE cabinet.api_key k SET last_request_at = w.last_at FROM cabinet.rate_window w
   WHERE w.subject = 'key:' || k.id AND w.last_at > coalesce(k.last_request_at, '-infinity')`,
  `DELETE FROM cabinet.rate_window WHERE ctid IN (
     SELECT ctid FROM cabinet.rate_window WHERE minute < cabinet.now() - interval '2 minutes' LIMIT 10000 FOR UPDATE SKIP LOCKED)`,
]

interface CountedRow extends Counted {
  readonly subject: string
}

const bySubject = <Row extends CountedRow>(rows: ReadonlyArray<Row>): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [row.subject, row]))

const UNLIMITED: Allowance = { allowed: true, limit: 0, remaining: 0, retryAfter: 0 }

export const layer = (options: AdmissionOptions) =>
  Layer.effect(
    Admission,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const blocked = new Map<string, number>()

      const addSubjects = yield* foldedCounts((asked) =>
        sql
          .unsafe<CountedRow>(COUNT_SUBJECTS, [textArray([...asked.keys()]), int4Array([...asked.values()])])
          .pipe(Effect.map(bySubject), orUnavailable),
      )
      const addKeys = yield* foldedCounts((asked) =>
        sql
          .unsafe<CountedRow & { id: string }>(COUNT_KEYS, [
            byteaArray(Array.from(asked.keys(), (hex) => Buffer.from(hex, "hex"))),
            int4Array([...asked.values()]),
          ])
          .pipe(Effect.map(bySubject), orUnavailable),
      )

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
        const counted = yield* addSubjects(subject)
        const result = allowance(limit, counted!)
        if (!result.allowed) {
          if (blocked.size > 100_000) blocked.clear()
          blocked.set(subject, now + result.retryAfter * 1000)
        }
        return result
      })

      yield* Effect.forEach(FORGET, (statement) => sql.unsafe(statement), { discard: true }).pipe(
        Effect.catchCause((cause) => Effect.logDebug("rate windows were not emptied", cause)),
        Effect.repeat(Schedule.spaced("1 minute")),
        Effect.delay("1 minute"),
        Effect.forkScoped,
      )

      return Admission.of({
        key: (fingerprint) =>
          Effect.map(addKeys(Buffer.from(fingerprint).toString("hex")), (counted) =>
            counted === null ? null : { keyId: Number(counted.id), ...allowance(options.apiRate, counted) },
          ),
        intakeClient: (ip) =>
          options.intakeRate === 0 ? Effect.succeed(UNLIMITED) : countSubject(rateSubject(ip), options.intakeRate),
        intakeSource: (sourceId) =>
          options.intakeRate === 0 ? Effect.succeed(UNLIMITED) : countSubject(`source:${sourceId}`, options.intakeRate),
      })
    }),
  )
