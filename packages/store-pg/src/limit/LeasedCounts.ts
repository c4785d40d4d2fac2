/**
 * Counts requests of credentials: of keys, and of tokens that read. The statement that counts them also looks them up. With a
 * large limit, numbers are leased as for senders (see LeasedQuota); the credential of each request is still looked up, so that
 * one that was revoked, has expired or has another list by now is noticed by its next request.
 */
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Clock, Effect, Latch, Result, type Scope } from "effect"
import { type Counted, type CountOne, coalescedCounts, coalescedLookups, distribute } from "./CoalescedCounts.ts"
import { LeasedQuota, type QuotaRequest } from "./LeasedQuota.ts"

/** One row for each subject that exists. */
export type Rows<Row> = Effect.Effect<ReadonlyMap<string, Row>, StoreUnavailable>

export interface LeasedStatements<Found> {
  /** Requests per minute of each subject. */
  readonly limit: number
  /** Counts each subject as often as it is asked for, 0 to write the time of its last request only. */
  readonly count: (asked: ReadonlyMap<string, number>) => Rows<Found & Counted>
  /** Looks the subjects up. */
  readonly find: (subjects: ReadonlyArray<string>) => Rows<Found>
}

/** Times of last requests are at most so late, where numbers are leased. */
const NOTE_INTERVAL = "1 second"

export const leasedCounts = <Found extends object>({
  limit,
  count,
  find,
}: LeasedStatements<Found>): Effect.Effect<CountOne<Found & Counted>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const context = yield* Effect.context()
    const scope = yield* Effect.scope
    const quota = new LeasedQuota(limit)

    const countOne = yield* coalescedCounts<Found & Counted>((asked) =>
      Effect.map(
        count(asked),
        (rows) => new Map(Array.from(rows, ([subject, row]) => [subject, distribute(row, asked.get(subject)!)])),
      ),
    )
    const findOne = yield* coalescedLookups(find)

    const lease = (wanted: ReadonlyArray<QuotaRequest>, now: number) =>
      count(new Map(wanted.map(({ subject, requests }) => [subject, requests]))).pipe(
        Effect.catchCause((cause) => Effect.as(Effect.logDebug("nothing was leased", cause), new Map())),
        Effect.map((windows) => quota.give(wanted, windows, now)),
      )

    let spent = new Map<string, number>()
    const any = Latch.makeUnsafe(false)
    const note = Effect.gen(function* () {
      yield* any.await
      any.closeUnsafe()
      yield* Effect.sleep(NOTE_INTERVAL)
      quota.forget(clock.currentTimeMillisUnsafe())
      const asked = spent
      spent = new Map()
      yield* count(asked)
    }).pipe(Effect.catchCause((cause) => Effect.logDebug("times of last requests were not stored", cause)))
    yield* Effect.forkScoped(Effect.forever(note))

    const countAndLease = async (subject: string, now: number, deadline: Deadline) => {
      const counted = await countOne(subject, deadline)
      if (Result.isFailure(counted) || counted.success === null) return counted
      const wanted = quota.wanted(subject, null, { client: counted.success, source: null }, now)
      if (wanted.length > 0) Effect.runForkWith(context)(Effect.forkIn(lease(wanted, now), scope))
      return counted
    }

    return async (subject, deadline) => {
      const now = clock.currentTimeMillisUnsafe()
      // Before the lookup, so that what is looked up together spends no number twice; refused, it is lost.
      const number = quota.spend(subject, null, now)?.client ?? null
      if (number === null) return countAndLease(subject, now, deadline)
      if (!spent.has(subject)) {
        spent.set(subject, 0)
        any.openUnsafe()
      }
      return Result.map(await findOne(subject, deadline), (found) => (found === null ? null : { ...found, ...number }))
    }
  })
