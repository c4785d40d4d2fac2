/** Reads deliveries with their last attempts, alone and in lists. */
import {
  type Attempt,
  type Delivery,
  type DeliveryType,
  outcomeOf,
  type Timing,
} from "@data-cabinet/core/delivery/Attempt"
import type { DeliveryFilter, DeliveryPlace, DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { reasonOf, saidIn } from "@data-cabinet/core/delivery/FailureReason"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Option } from "effect"
import {
  COUNT_SLICE,
  DELIVERIES_OF_EVENT,
  DELIVERY_BY_ID,
  type DeliveryRow,
  RESEND_SLICE,
  type ResentSlice,
  SLICE,
  SLICE_COUNTS,
  SLICE_OF_EVENT,
  type SliceRow,
} from "./DeliveryListStatement.ts"

type Sql = PgClient.PgClient

const toDelivery = ({
  id,
  type,
  addressId,
  eventId,
  state,
  attempts,
  createdAt,
  dueAt,
  ...last
}: DeliveryRow): Delivery => {
  const delivery = { id, type, addressId, eventId, state, attempts, createdAt, dueAt }
  const { lastAt, lastNumber, status, failure, durationMs, responseBody } = last
  if (lastAt === null || lastNumber === null || durationMs === null) return { ...delivery, lastAttempt: null }
  const reason = reasonOf({ status, failure, responseBody })
  const said = reason === null ? "" : saidIn(responseBody)
  const outcome = outcomeOf({ status })
  return {
    ...delivery,
    lastAttempt: { at: lastAt, number: lastNumber, outcome, status, failure, durationMs, said, reason },
  }
}

/** An attempt as the database returns it. */
export interface AttemptRow extends Omit<Attempt, "reason" | "timing"> {
  readonly timing: ReadonlyArray<number | null> | null
}

const toTiming = ([nameMs = null, connectMs = null, tlsMs = null, waitMs = null, bodyMs = null]: ReadonlyArray<
  number | null
>): Timing => ({ nameMs, connectMs, tlsMs, waitMs, bodyMs })

/** An attempt of the log, with the reason of its failure. */
export const toAttempt = (row: AttemptRow): Attempt => ({
  ...row,
  timing: row.timing && toTiming(row.timing),
  reason: reasonOf(row),
})

export const findDelivery = (sql: Sql, id: number) =>
  Effect.map(sql.unsafe<DeliveryRow>(DELIVERY_BY_ID, [id]), ([row]) =>
    Option.map(Option.fromNullishOr(row), toDelivery),
  )

export const deliveriesOfEvent = (sql: Sql, eventId: number) =>
  Effect.map(sql.unsafe<DeliveryRow>(DELIVERIES_OF_EVENT, [eventId]), (rows) => rows.map(toDelivery))

type SliceQuery = Parameters<DeliveryQueue["Service"]["slice"]>[0]

const placeOf = ({ key, placeId, untriedBelow }: SliceRow): DeliveryPlace => ({ at: key, id: placeId, untriedBelow })

const parametersOf = ({ filter, before, limit }: Omit<SliceQuery, "examine">, fourth: number) => {
  const {
    addressId,
    state,
    sourceId = null,
    retrying = false,
    from = null,
    to = null,
    outcome = null,
    type = null,
  } = filter
  const place = [before?.at ?? null, before?.id ?? 0, before?.untriedBelow ?? Number.MAX_SAFE_INTEGER]
  return [
    ...place,
    fourth,
    addressId,
    state,
    limit,
    sourceId,
    from,
    to,
    retrying || null,
    outcome,
    filter.eventId,
    type,
  ]
}

export const sliceOf = Effect.fnUntraced(function* (sql: Sql, { filter, before, limit, examine }: SliceQuery) {
  const { eventId } = filter
  const rows =
    eventId === null
      ? yield* sql.unsafe<SliceRow>(SLICE(filter), parametersOf({ filter, before, limit }, examine))
      : yield* sql.unsafe<SliceRow>(SLICE_OF_EVENT, parametersOf({ filter, before, limit }, eventId))
  const matching = rows.filter(({ matched }) => matched)
  const found = matching.slice(0, limit)
  const last = matching.length > limit ? found.at(-1) : rows.at(-1)?.more === true ? rows.at(-1) : undefined
  return {
    found: found.map(toDelivery),
    next: last === undefined ? null : placeOf(last),
    reached: last?.key ?? null,
  }
})

interface CountRow {
  readonly type: DeliveryType
  readonly sourceId: number | null
  readonly deliveries: number
  readonly more: boolean
}

export const sliceCounts = (sql: Sql, filter: DeliveryFilter, examine: number) =>
  Effect.map(
    sql.unsafe<CountRow>(SLICE_COUNTS(filter), parametersOf({ filter, before: null, limit: examine }, examine)),
    (rows) => ({
      groups: rows.map(({ type, sourceId, deliveries }) => ({ type, sourceId, deliveries })),
      whole: rows[0]?.more !== true,
    }),
  )

/** How many deliveries one statement examines, and how many it sends again. */
const EXAMINED = 5000
const RESENT = 2000

/**
 * Sends the deliveries of a list again, or counts them, slice by slice from the newest. What is attempted meanwhile rises above
 * the slices that follow, so that each is sent at most once.
 */
export const resendListed = Effect.fnUntraced(function* (sql: Sql, filter: DeliveryFilter, isSent: boolean) {
  const statement = (isSent ? RESEND_SLICE : COUNT_SLICE)(filter)
  let before: DeliveryPlace | null = null
  let count = 0
  for (;;) {
    const rows: ReadonlyArray<ResentSlice> = yield* sql.unsafe<ResentSlice>(
      statement,
      parametersOf({ filter, before, limit: RESENT }, EXAMINED),
    )
    const slice = rows[0]!
    count += slice.count
    if (!slice.more || slice.key === null) return count
    before = { at: slice.key, id: slice.placeId, untriedBelow: slice.untriedBelow }
  }
})
