/**
 * Counts requests per minute of the wall clock, over all processes: an upsert in an unlogged table, one for all
 * concurrent requests of this process (see CoalescedCounts). For intake, a subject with a large limit is counted in
 * advance (see LeasedQuota), and one over its limit is cached until the minute ends, so that a flood costs the database
 * little, refused or not. Counts start over after a database crash.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { type Deadline, monotonicMillis } from "@data-cabinet/core/runtime/Deadline"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { RateLimiter, type RateLimit, type IntakeRateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { rateSubject } from "@data-cabinet/core/limit/RateSubject"
import { StatementClient } from "../connection/OwnerClient.ts"
import { Clock, Effect, Layer, Result } from "effect"
import { byteaArray, int4Array, textArray } from "../connection/ArrayParameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type QuotaRequest, CLOCKS_APART, LeasedQuota } from "./LeasedQuota.ts"
import { COUNT_KEYS, COUNT_SENDERS, FORGET_BATCH, FORGET_WINDOWS, NOTE_LAST_REQUESTS } from "./CountStatement.ts"
import { type Counted, distribute, coalescedCounts } from "./CoalescedCounts.ts"
import { distributeSenders, type IntakeCount, type SenderPair } from "./IntakeCounts.ts"

export interface RateLimiterOptions {
  /** Requests per minute per key. */
  readonly apiRate: number
  /** Requests per minute per source and per client address; 0 for no limit. */
  readonly intakeRate: number
}

interface CountedRow extends Counted {
  readonly subject: string
}

interface KeyRow extends CountedRow {
  readonly id: string
}

/** A subject over its limit, by this machine's clock: `until` is no later than the end of the database's minute. */
interface Blocked {
  readonly since: number
  readonly until: number
}

/** For `Retry-After`: a request after this many whole seconds falls into the next minute. */
const seconds = (millis: number): number => Math.max(1, Math.ceil(millis / 1000))

const UNLIMITED: IntakeRateLimit = { allowed: true, limit: 0, remaining: 0, retryAfter: 0, whose: "source" }

/** The key that a batch groups by: a pair as one text, since neither part contains a line break. */
const subjectsOf = (client: string | null, source: string | null): string => `${client ?? ""}\n${source ?? ""}`

const sendersOf = (subjects: string, requests: number): SenderPair => {
  const [client = "", source = ""] = subjects.split("\n")
  return { client: client === "" ? null : client, source: source === "" ? null : source, asked: requests }
}

/** Deletes all windows of past minutes, in batches. */
export const forgetWindows = Effect.gen(function* () {
  const sql = yield* StatementClient
  yield* sql.unsafe(NOTE_LAST_REQUESTS)
  for (let forgotten = FORGET_BATCH; forgotten === FORGET_BATCH;) {
    forgotten = (yield* sql.unsafe(FORGET_WINDOWS)).length
  }
})

export const layer = (options: RateLimiterOptions) =>
  Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const scope = yield* Effect.scope
      const context = yield* Effect.context()
      const blocked = new Map<string, Blocked>()
      const ahead = new LeasedQuota(options.intakeRate)

      const clock = yield* Clock.Clock
      const countKey = yield* coalescedCounts<KeyRow>((requests) =>
        sql
          .unsafe<KeyRow>(COUNT_KEYS, [
            byteaArray(Array.from(requests.keys(), (hex) => Buffer.from(hex, "hex"))),
            int4Array([...requests.values()]),
          ])
          .pipe(
            Effect.map(
              (rows) => new Map(rows.map((row) => [row.subject, distribute(row, requests.get(row.subject)!)])),
            ),
            orUnavailable,
          ),
      )
      const countSenders = (senders: ReadonlyArray<SenderPair>) =>
        sql
          .unsafe<CountedRow>(COUNT_SENDERS, [
            textArray(senders.map(({ client }) => client)),
            textArray(senders.map(({ source }) => source)),
            int4Array(senders.map(({ asked: count }) => count)),
            options.intakeRate,
          ])
          .pipe(
            Effect.map((rows) => new Map(rows.map((row) => [row.subject, row]))),
            orUnavailable,
          )
      const countSender = yield* coalescedCounts<IntakeCount>((requests) => {
        const senders = Array.from(requests, ([subjects, count]) => sendersOf(subjects, count))
        return Effect.map(countSenders(senders), (windows) => {
          const dealt = distributeSenders(senders, windows, options.intakeRate)
          return new Map(Array.from(requests.keys(), (subjects, index) => [subjects, dealt[index]!]))
        })
      })

      const allowance = (limit: number, counted: Counted): RateLimit => ({
        allowed: counted.count <= limit,
        limit,
        remaining: Math.max(0, limit - counted.count),
        retryAfter: seconds(counted.left_ms),
      })

      /**
       * The cached refusal of a subject that is over its limit, until the minute ends. In the last moments of the minute,
       * and if this machine's clock was set back, the database is queried: nothing is cached past the end of the minute.
       */
      const remembered = (subject: string | null, now: number): RateLimit | null => {
        const block = subject === null ? undefined : blocked.get(subject)
        if (subject === null || block === undefined) return null
        const left = block.until - now
        if (left > CLOCKS_APART && now >= block.since)
          return { allowed: false, limit: options.intakeRate, remaining: 0, retryAfter: seconds(left) }
        blocked.delete(subject)
        return null
      }

      const told = (subject: string, counted: Counted, now: number): RateLimit => {
        const result = allowance(options.intakeRate, counted)
        if (!result.allowed) {
          if (blocked.size > 100_000) blocked.clear()
          blocked.set(subject, { since: now, until: now + counted.left_ms })
        }
        return result
      }

      /** Each is a client or a source, counted by itself. */
      const countAhead = (wanted: ReadonlyArray<QuotaRequest>, now: number) => {
        const senders = wanted.map(({ subject, requests }) =>
          subject.startsWith("source:")
            ? { client: null, source: subject, asked: requests }
            : { client: subject, source: null, asked: requests },
        )
        return countSenders(senders).pipe(
          Effect.catchCause((cause) => Effect.as(Effect.logDebug("nothing was counted ahead", cause), new Map())),
          Effect.map((windows) => ahead.give(wanted, windows, now)),
        )
      }

      const askedOne = async (
        client: string | null,
        source: string | null,
        now: number,
        deadline: Deadline,
      ): Promise<Result.Result<IntakeCount, StoreUnavailable>> => {
        const counted = await countSender(subjectsOf(client, source), deadline)
        if (Result.isFailure(counted)) return Result.fail(counted.failure)
        if (counted.success === null) return Result.succeed({ client: null, source: null })
        const wanted = ahead.wanted(client, source, counted.success, now)
        if (wanted.length > 0) Effect.runForkWith(context)(Effect.forkIn(countAhead(wanted, now), scope))
        return Result.succeed(counted.success)
      }

      const intake = async (
        client: string | null,
        source: string | null,
        deadline: Deadline,
      ): Promise<Result.Result<IntakeRateLimit, StoreUnavailable>> => {
        const now = clock.currentTimeMillisUnsafe()
        const clientRefused = remembered(client, now)
        if (clientRefused !== null) return Result.succeed({ ...clientRefused, whose: "client" })
        const sourceRefused = remembered(source, now)
        const toCount = sourceRefused === null ? source : null
        const verdict = (counted: IntakeCount): IntakeRateLimit => {
          if (client !== null && counted.client !== null) {
            const result = told(client, counted.client, now)
            if (!result.allowed || source === null) return { ...result, whose: "client" }
          }
          if (source === null) return UNLIMITED
          return { ...(sourceRefused ?? told(source, counted.source!, now)), whose: "source" }
        }
        const counted = ahead.spend(client, toCount, now)
        if (counted !== null) return Result.succeed(verdict(counted))
        return Result.map(await askedOne(client, toCount, now, deadline), verdict)
      }

      const forget = Effect.andThen(
        Effect.map(Clock.currentTimeMillis, (now) => ahead.forget(now)),
        Effect.provideService(forgetWindows, StatementClient, sql),
      )
      yield* background("rate window cleanup", "1 minute", forget, { firstAfter: "1 minute", quiet: true })

      return RateLimiter.of({
        key: (fingerprint, millis) =>
          Effect.map(
            fromResult(() => countKey(Buffer.from(fingerprint).toString("hex"), monotonicMillis(clock) + millis)),
            (counted) =>
              counted === null ? null : { keyId: Number(counted.id), ...allowance(options.apiRate, counted) },
          ),
        intake: async (ip, sourceId, deadline) =>
          options.intakeRate === 0
            ? Result.succeed(UNLIMITED)
            : intake(ip === null ? null : rateSubject(ip), sourceId === null ? null : `source:${sourceId}`, deadline),
      })
    }),
  )
