/**
 * Counts requests per minute of the wall clock, over all processes: an upsert in an unlogged table, one for all
 * concurrent requests of this process (see CoalescedCounts). For intake, a subject with a large limit is counted in
 * advance (see LeasedQuota), and one over its limit is cached until the minute ends, so that a flood costs the database
 * little, refused or not. Counts start over after a database crash.
 *
 * Decision: docs/decisions/0076-quotas-of-keys-are-not-leased.md
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { RateLimit, IntakeRateLimit, KeyRateLimit } from "@data-cabinet/core/limit/RateLimiter"
import { rateSubject } from "@data-cabinet/core/limit/RateSubject"
import { Clock, type Context, Effect, Result, type Scope } from "effect"
import type { Statements } from "../connection/StatementPool.ts"
import { type QuotaRequest, MAX_CLOCK_SKEW_MILLIS, LeasedQuota } from "./LeasedQuota.ts"
import { type Counted, type CountOne, coalescedCounts } from "./CoalescedCounts.ts"
import { distributeSenders, type IntakeCount, type SenderPair } from "./IntakeCounts.ts"
import { type KeyRow, countKeys, countSenders } from "./CountRequests.ts"

export interface RateLimiterOptions {
  /** Requests per minute per key. */
  readonly apiRate: number
  /** Requests per minute per source and per client address; 0 for no limit. */
  readonly intakeRate: number
}

/** A subject over its limit, by this machine's clock: `until` is at most the end of the database's minute. */
interface Blocked {
  readonly limit: number
  readonly since: number
  readonly until: number
}

/** At most this many subjects over their limit are kept; others are counted again. */
const MAX_BLOCKED = 100_000

/** For `Retry-After`: a request after this many whole seconds falls into the next minute. */
const seconds = (millis: number): number => Math.max(1, Math.ceil(millis / 1000))

const UNLIMITED: IntakeRateLimit = { allowed: true, limit: 0, remaining: 0, retryAfter: 0, subject: "source" }

/** The key that a batch groups by: a pair as one text, since neither part contains a line break. */
const subjectsOf = (client: string | null, source: string | null): string => `${client ?? ""}\n${source ?? ""}`

const sendersOf = (subjects: string, requests: number): SenderPair => {
  const [client = "", source = ""] = subjects.split("\n")
  return { client: client === "" ? null : client, source: source === "" ? null : source, requests }
}

export interface Parts {
  readonly sql: Statements
  readonly options: RateLimiterOptions
  readonly clock: Clock.Clock
  /** For leasing in advance, which runs alongside the request that needs it, until the layer closes. */
  readonly context: Context.Context<never>
  readonly scope: Scope.Scope
}

export class RequestCounter {
  readonly #parts: Parts
  readonly #intakeRate: number
  /** Refused until the end of the minute: added by `#judge`, removed when read too late. */
  readonly #blocked = new Map<string, Blocked>()
  /** Requests counted in advance: filled by `#countAhead`, spent by `#countIntake`. */
  readonly #ahead: LeasedQuota
  readonly #countKey: CountOne<KeyRow>
  readonly #countSender: CountOne<IntakeCount>

  /** A counter whose batches are run until the scope closes. */
  static readonly make = Effect.fnUntraced(function* (parts: Parts) {
    const countKey = yield* coalescedCounts<KeyRow>((requests) => countKeys(parts.sql, requests))
    const countSender = yield* coalescedCounts<IntakeCount>((requests) => {
      const senders = Array.from(requests, ([subjects, count]) => sendersOf(subjects, count))
      return Effect.map(countSenders(parts, senders), (windows) => {
        const counts = distributeSenders(senders, windows, parts.options.intakeRate)
        return new Map(Array.from(requests.keys(), (subjects, index) => [subjects, counts[index]!]))
      })
    })
    return new RequestCounter(parts, countKey, countSender)
  })

  private constructor(parts: Parts, countKey: CountOne<KeyRow>, countSender: CountOne<IntakeCount>) {
    this.#parts = parts
    this.#intakeRate = parts.options.intakeRate
    this.#ahead = new LeasedQuota(this.#intakeRate)
    this.#countKey = countKey
    this.#countSender = countSender
  }

  async key(
    fingerprint: Uint8Array,
    deadline: Deadline,
  ): Promise<Result.Result<KeyRateLimit | null, StoreUnavailable>> {
    const { apiRate } = this.#parts.options
    return Result.map(await this.#countKey(Buffer.from(fingerprint).toString("hex"), deadline), (counted) =>
      counted === null ? null : { keyId: Number(counted.id), ...limitOf(apiRate, counted) },
    )
  }

  async intake(
    ip: string | null,
    sourceId: number | null,
    deadline: Deadline,
    rate: number | null = null,
  ): Promise<Result.Result<IntakeRateLimit, StoreUnavailable>> {
    if (rate !== null && sourceId !== null) return this.#ofRatedSource(`source:${sourceId}`, rate, deadline)
    if (this.#intakeRate === 0) return Result.succeed(UNLIMITED)
    const client = ip === null ? null : rateSubject(ip)
    const source = sourceId === null ? null : `source:${sourceId}`
    const now = this.#parts.clock.currentTimeMillisUnsafe()
    const clientRefused = this.#cached(client, now, this.#intakeRate)
    if (clientRefused !== null) return Result.succeed({ ...clientRefused, subject: "client" })
    const sourceRefused = this.#cached(source, now, this.#intakeRate)
    const toCount = sourceRefused === null ? source : null
    const judge = (counted: IntakeCount): IntakeRateLimit => {
      if (client !== null && counted.client !== null) {
        const result = this.#judge(client, counted.client, now, this.#intakeRate)
        if (!result.allowed || source === null) return { ...result, subject: "client" }
      }
      if (source === null) return UNLIMITED
      return { ...(sourceRefused ?? this.#judge(source, counted.source!, now, this.#intakeRate)), subject: "source" }
    }
    const counted = this.#ahead.spend(client, toCount, now)
    if (counted !== null) return Result.succeed(judge(counted))
    return Result.map(await this.#countIntake(client, toCount, now, deadline), judge)
  }

  /** Nothing is counted in advance: a lease is measured by the common limit. */
  async #ofRatedSource(
    source: string,
    rate: number,
    deadline: Deadline,
  ): Promise<Result.Result<IntakeRateLimit, StoreUnavailable>> {
    const now = this.#parts.clock.currentTimeMillisUnsafe()
    const refused = this.#cached(source, now, rate)
    if (refused !== null) return Result.succeed({ ...refused, subject: "source" })
    const counted = await this.#countSender(subjectsOf(null, source), deadline)
    return Result.map(counted, (count) =>
      count?.source == null ? UNLIMITED : { ...this.#judge(source, count.source, now, rate), subject: "source" },
    )
  }

  /** Discards advance counts for past minutes. */
  readonly forget: Effect.Effect<void> = Effect.map(Clock.currentTimeMillis, (now) => this.#ahead.forget(now))

  /**
   * The cached refusal of a subject that is over its limit, until the minute ends. In the last moments of the minute, and
   * if this machine's clock was set back, the database is queried: nothing is cached past the end of the minute.
   */
  #cached(subject: string | null, now: number, limit: number): RateLimit | null {
    const block = subject === null ? undefined : this.#blocked.get(subject)
    if (subject === null || block === undefined || block.limit !== limit) return null
    const left = block.until - now
    if (left > MAX_CLOCK_SKEW_MILLIS && now >= block.since) {
      return { allowed: false, limit, remaining: 0, retryAfter: seconds(left) }
    }
    this.#blocked.delete(subject)
    return null
  }

  /** Compares a count with the limit, and caches a refusal. */
  #judge(subject: string, counted: Counted, now: number, limit: number): RateLimit {
    const result = limitOf(limit, counted)
    if (!result.allowed) {
      if (this.#blocked.size > MAX_BLOCKED) this.#blocked.clear()
      this.#blocked.set(subject, { limit, since: now, until: now + counted.left_ms })
    }
    return result
  }

  async #countIntake(
    client: string | null,
    source: string | null,
    now: number,
    deadline: Deadline,
  ): Promise<Result.Result<IntakeCount, StoreUnavailable>> {
    const counted = await this.#countSender(subjectsOf(client, source), deadline)
    if (Result.isFailure(counted)) return Result.fail(counted.failure)
    if (counted.success === null) return Result.succeed({ client: null, source: null })
    const wanted = this.#ahead.wanted(client, source, counted.success, now)
    if (wanted.length > 0) {
      const { context, scope } = this.#parts
      Effect.runForkWith(context)(Effect.forkIn(this.#countAhead(wanted, now), scope))
    }
    return Result.succeed(counted.success)
  }

  /** Each is a client or a source, counted separately. */
  #countAhead(wanted: ReadonlyArray<QuotaRequest>, now: number): Effect.Effect<void> {
    const senders = wanted.map(({ subject, requests }) =>
      subject.startsWith("source:")
        ? { client: null, source: subject, requests }
        : { client: subject, source: null, requests },
    )
    return countSenders(this.#parts, senders).pipe(
      Effect.catchCause((cause) => Effect.as(Effect.logDebug("nothing was leased", cause), new Map())),
      Effect.map((windows) => this.#ahead.give(wanted, windows, now)),
    )
  }
}

/** A count against its limit. */
export const limitOf = (limit: number, counted: Counted): RateLimit => ({
  allowed: counted.count <= limit,
  limit,
  remaining: Math.max(0, limit - counted.count),
  retryAfter: seconds(counted.left_ms),
})
