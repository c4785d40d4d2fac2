/** The delivery queue in PostgreSQL: leases, claims with SKIP LOCKED, settlements in batches. */
import { PgClient } from "@effect/sql-pg"
import type { PauseReason } from "@data-cabinet/core/delivery/Address"
import {
  DeliveryQueue,
  type LogQuery,
  type QueueGauge,
  type ResendObstacle,
  type ResendRange,
} from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Layer, Option } from "effect"
import { prune, recording } from "./AttemptPartitions.ts"
import { int4Array, int8Array } from "../connection/Parameter.ts"
import { SourceNames } from "../feed/SourceNames.ts"
import { SecretCiphers } from "../key/SecretCipher.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import {
  type AddressRow,
  CLAIM,
  CLAIM_NEW_PING,
  type ClaimedRow,
  NEXT_DUE,
  type PingRow,
  RELEASE,
  roomParameters,
} from "./ClaimStatement.ts"
import { claimedDeliveries, claimedPing } from "./ClaimedDeliveries.ts"
import * as DeliveryStatement from "./DeliveryStatement.ts"
import { ColdActs } from "../cold/ColdActs.ts"
import { microsOf } from "../cold/ColdColumns.ts"
import { resendOrdered } from "./OrderedResend.ts"
import {
  type AttemptRow,
  deliveriesOfEvent,
  findDelivery,
  resendListed,
  sliceCounts,
  sliceOf,
  toAttempt,
} from "./PgDeliveryList.ts"
import { SETTLE, settleParameter } from "./SettleStatement.ts"

/** How many deliveries one statement resends. */
const RESEND_BATCH = 2000

/** An address that was paused, and why. */
export interface Paused {
  readonly id: number | null
  readonly because: PauseReason | null
}

const PAUSED_WORDS: Readonly<Record<PauseReason, string>> = {
  failing: "it has failed for as long as it may",
  gone: "it responded with 410 (gone)",
}

/** Logs them. */
export const tellPaused = (changed: ReadonlyArray<Paused>): Effect.Effect<void> => {
  if (changed.length === 0) return Effect.void
  const warnings = changed.flatMap(({ id, because }) =>
    id === null || because === null
      ? []
      : [`Delivery address ${id} is paused: ${PAUSED_WORDS[because]}. Its deliveries wait until it is resumed.`],
  )
  return Effect.forEach(warnings, (words) => Effect.logWarning(words), { discard: true })
}

type Sql = PgClient.PgClient

const attemptsOfAddress = (sql: Sql, { addressId, before, beforeDelivery, failedOnly, limit }: LogQuery) =>
  Effect.map(
    sql.unsafe<AttemptRow>(DeliveryStatement.ATTEMPTS_OF_ADDRESS, [
      addressId,
      before ?? null,
      beforeDelivery ?? 0,
      failedOnly ?? false,
      limit,
    ]),
    (rows) => rows.map(toAttempt),
  )

export const layer = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cold = yield* ColdActs
    const names = new SourceNames()
    const cipher = yield* SecretCiphers

    return DeliveryQueue.of({
      claim: (request) =>
        recording(
          sql,
          Effect.flatMap(
            sql.unsafe<ClaimedRow | AddressRow>(CLAIM, [
              ...roomParameters(request),
              request.after,
              request.limit,
              request.leaseSeconds,
            ]),
            (rows) =>
              Effect.clockWith((clock) =>
                Effect.sync(() => claimedDeliveries(rows, names, cipher, clock.currentTimeMillisUnsafe())),
              ),
          ),
        ),
      settle: (batch) =>
        batch.length === 0
          ? Effect.void
          : Effect.flatMap(recording(sql, sql.unsafe<Paused>(SETTLE, [settleParameter(batch)])), tellPaused),
      release: (deliveries) =>
        Effect.asVoid(
          recording(
            sql,
            sql.unsafe(RELEASE, [
              int8Array(deliveries.map(({ id }) => id)),
              int4Array(deliveries.map(({ attempt }) => attempt)),
            ]),
          ),
        ),
      nextDue: (request) =>
        orUnavailable(
          Effect.map(sql.unsafe<{ readonly millis: number | null }>(NEXT_DUE, roomParameters(request)), ([row]) =>
            row === undefined || row.millis === null ? null : Math.max(0, row.millis),
          ),
        ),
      ping: (addressId, leaseSeconds) =>
        orUnavailable(
          Effect.map(sql.unsafe<PingRow>(CLAIM_NEW_PING, [addressId, leaseSeconds]), ([row]) =>
            Option.map(Option.fromNullishOr(row), (ping) => claimedPing(ping, names, cipher)),
          ),
        ),
      resend: (deliveryId) => orUnavailable(resend(sql, deliveryId)),
      resendRange: (range) => Effect.andThen(needRange(cold, range), resendRange(sql, range)),
      countRange: (range) => Effect.andThen(needRange(cold, range), countRange(sql, range)),
      resendListed: (filter) => orUnavailable(resendListed(sql, filter, true)),
      countListed: (filter) => orUnavailable(resendListed(sql, filter, false)),
      cancel: (deliveryId) =>
        orUnavailable(
          Effect.andThen(sql.unsafe(DeliveryStatement.CANCEL, [deliveryId]), findDelivery(sql, deliveryId)),
        ),
      log: (query) => orUnavailable(attemptsOfAddress(sql, query)),
      find: (deliveryId) => orUnavailable(findDelivery(sql, deliveryId)),
      counts: (filter, examine) => orUnavailable(sliceCounts(sql, filter, examine)),
      slice: (query) => orUnavailable(sliceOf(sql, query)),
      attemptsOf: (deliveryId) =>
        orUnavailable(
          Effect.map(sql.unsafe<AttemptRow>(DeliveryStatement.ATTEMPTS_OF_DELIVERY, [deliveryId]), (rows) =>
            rows.map(toAttempt),
          ),
        ),
      ofEvent: (eventId) => orUnavailable(deliveriesOfEvent(sql, eventId)),
      gauge: orUnavailable(Effect.map(sql.unsafe<QueueGauge>(DeliveryStatement.GAUGE), ([row]) => row!)),
      prune: (keep) => prune(sql, keep),
    })
  }),
)

const resend = Effect.fnUntraced(function* (sql: Sql, deliveryId: number) {
  const moved = yield* sql.unsafe(DeliveryStatement.RESEND, [deliveryId])
  const delivery = yield* findDelivery(sql, deliveryId)
  if (Option.isNone(delivery)) return Option.none()
  if (moved.length > 0 || delivery.value.state === "due") {
    return Option.some({ delivery: delivery.value, obstacle: null })
  }
  const [found] = yield* sql.unsafe<{ why: ResendObstacle | null }>(DeliveryStatement.WHY_NOT_RESENT, [deliveryId])
  return Option.map(Option.fromNullishOr(found), ({ why }) => ({ delivery: delivery.value, obstacle: why }))
})

const isAddress = (sql: Sql, addressId: number) =>
  Effect.map(
    orUnavailable(sql`SELECT 1 AS one FROM cabinet.address WHERE id = ${addressId}::bigint AND removed_at IS NULL`),
    (known) => known.length > 0,
  )

/** Events that an address in order gets again are found by their rows. */
const needRange = (cold: ColdActs["Service"], { from, to }: ResendRange) => {
  const end = microsOf(to)
  return orUnavailable(cold.needBetween(microsOf(from), end === null ? null : end + 1_000n))
}

const countRange = Effect.fnUntraced(function* (sql: Sql, range: ResendRange) {
  const { addressId, from, to, only } = range
  if (!(yield* isAddress(sql, addressId))) return Option.none()
  const counted = sql.unsafe<{ readonly count: number }>(DeliveryStatement.COUNT_RESENDABLE(only), [
    addressId,
    from,
    to,
  ])
  const ordered = yield* orUnavailable(resendOrdered(sql, range, false))
  return Option.some((yield* orUnavailable(counted))[0]!.count + ordered)
})

const resendRange = Effect.fnUntraced(function* (sql: Sql, range: ResendRange) {
  const { addressId, from, to, only } = range
  if (!(yield* isAddress(sql, addressId))) return Option.none()
  let total = 0
  const queued = [DeliveryStatement.RESEND_QUEUED(only), ["0"]] as const
  const delivered = [DeliveryStatement.RESEND_DELIVERED, ["0", from]] as const
  for (const [statement, first] of only === "failed" ? [queued] : [queued, delivered]) {
    let slice: DeliveryStatement.ResendBatch = { seen: RESEND_BATCH, sent: 0, place: first }
    while (slice.seen === RESEND_BATCH) {
      const next = sql.unsafe<DeliveryStatement.ResendBatch>(statement, [
        addressId,
        from,
        to,
        RESEND_BATCH,
        ...slice.place,
      ])
      slice = (yield* orUnavailable(next))[0]!
      total += slice.sent
    }
  }
  total += yield* orUnavailable(resendOrdered(sql, range, true))
  return Option.some(total)
})
