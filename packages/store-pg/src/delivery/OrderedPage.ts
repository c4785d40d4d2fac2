/** Reads the next events of an address in order: those that its rules send, with the numbers of their deliveries. */
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import type { OrderedItem, OrderedPage } from "@data-cabinet/core/delivery/OrderedQueue"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import type { SourceNames } from "../feed/SourceNames.ts"
import type { SecretCipher } from "../key/SecretCipher.ts"
import { claimedEvent, sentTimestamp } from "./ClaimedToJson.ts"
import * as Statement from "./OrderedPageStatement.ts"
import { slicedFilter } from "./SlicedFilter.ts"
import { storedRecipient } from "./StoredRecipient.ts"

interface Rule {
  readonly epoch: string
  readonly xid: string
  readonly filters: FieldFilters | null
}

const isSent = (row: Statement.PageRow): boolean => row.nth !== null && row.source_id !== null

const placeOf = (row: Statement.PageRow): FeedPlace => ({
  epoch: Number(row.epoch),
  xid: BigInt(row.xid),
  id: row.event_id,
})

/** The rows whose events pass the filter that was in force when they were accepted. */
const passing = Effect.fnUntraced(function* (rows: ReadonlyArray<Statement.PageRow>, rules: ReadonlyArray<Rule>) {
  const filters = new Map(rules.map((rule) => [`${rule.epoch} ${rule.xid}`, rule.filters ?? []]))
  const passes = slicedFilter()
  const passed: Array<Statement.PageRow> = []
  for (const row of rows) {
    const conditions = filters.get(`${row.rule_epoch} ${row.rule_xid}`)!
    if (conditions.length === 0 || (yield* passes(Buffer.from(row.payload).toString(), conditions))) passed.push(row)
  }
  return passed
})

/** The numbers of these events' deliveries; null if the lease is lost. */
const numbersOf = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  held: HeldFollower,
  head: Statement.HeadRow,
  events: ReadonlyArray<number>,
) {
  const known = new Map(head.event_ids.map((event, index) => [Number(event), head.delivery_ids[index]!]))
  const numbers = events.map((event) => known.get(event) ?? null)
  if (numbers.every((number) => number !== null)) return numbers.map(Number)
  const [row] = yield* sql.unsafe<{ readonly delivery_ids: ReadonlyArray<string> }>(Statement.NUMBER, [
    held.id,
    held.lease,
    int8Array(events),
    int8Array(numbers.map((number) => (number === null ? null : BigInt(number)))),
  ])
  return row === undefined ? null : row.delivery_ids.map(Number)
})

/** After the last event that is examined with these rows: the rest of a full page is read again. */
const endOf = (rows: ReadonlyArray<Statement.PageRow>): FeedPlace | null => {
  const last = rows.at(-1)!
  if (last.nth !== null && last.nth < last.kept) return placeOf(last)
  const { last_epoch: epoch, last_xid: xid, last_id: id } = last
  return epoch === null || xid === null || id === null
    ? null
    : { epoch: Number(epoch), xid: BigInt(xid), id: Number(id) }
}

/**
 * The end of an address whose order has ended: its last rule sends nothing, so once the feed has been read up to that
 * rule, the address owes nothing more.
 */
const lastRulePassed = ({ bound_epoch, bound }: Statement.HeadRow, rules: ReadonlyArray<Rule>): FeedPlace | null => {
  const places = rules.map(({ epoch, xid }): FeedPlace => ({ epoch: Number(epoch), xid: BigInt(xid), id: 0 }))
  const last = places.toSorted(comparePlaces).at(-1)
  const readTo: FeedPlace = { epoch: Number(bound_epoch), xid: BigInt(bound), id: 0 }
  return last !== undefined && comparePlaces(last, readTo) <= 0 ? last : null
}

/** Null if the lease is lost, or nothing may be sent to the address. */
export const orderedPage = Effect.fnUntraced(function* (
  {
    sql,
    cipher,
    names,
  }: { readonly sql: PgClient.PgClient; readonly cipher: SecretCipher; readonly names: SourceNames },
  held: HeldFollower,
  isQuick: boolean,
) {
  const [head] = yield* sql.unsafe<Statement.HeadRow>(Statement.HEAD, [0, 0, 0, 0, held.id])
  if (head === undefined || head.lease !== held.lease || head.stopped) return null
  const { address_id: addressId, epoch, xid, event_id: eventId } = head
  // Uses a later snapshot than the watermark's, as the feed's pages do.
  const parameters = [addressId, epoch, xid, eventId, head.bound_epoch, head.bound]
  const read = (page: Statement.PageStatement) => sql.unsafe<Statement.PageRow>(page.sql, parameters)
  let statement = isQuick ? Statement.QUICK_PAGE : Statement.PAGE
  let rows = yield* read(statement)
  if (!isQuick && rows[0]!.examined === statement.most && rows[0]!.kept < Statement.FEW_EVENTS) {
    statement = Statement.WIDE_PAGE
    rows = yield* read(statement)
  }
  const [{ examined, kept }] = rows as [Statement.PageRow]
  const sent = rows.filter(isSent)
  const rules = JSON.parse(head.rules) as ReadonlyArray<Rule>
  const passed = yield* passing(sent, rules)
  const hasMore = examined === statement.most || kept > (rows.at(-1)!.nth ?? 0)
  const numbers =
    passed.length === 0
      ? []
      : yield* numbersOf(
          sql,
          held,
          head,
          passed.map((row) => row.event_id),
        )
  if (numbers === null) return null
  const page: OrderedPage = {
    recipient: storedRecipient(head, cipher),
    batch: head.in_order ? { max: head.batch_max, wait: head.batch_wait_seconds } : { max: 1, wait: 0 },
    rate: head.rate,
    failures: head.failures,
    items: passed.map((row, index): OrderedItem => ({
      deliveryId: numbers[index]!,
      eventId: row.event_id,
      place: placeOf(row),
      createdAt: sentTimestamp(row.received_at),
      event: { json: claimedEvent(row, names)!, sourceId: row.source_id!, sourceName: row.source_name },
    })),
    end: (head.in_order || hasMore ? null : lastRulePassed(head, rules)) ?? endOf(rows),
    hasMore,
    filtered: sent.length - passed.length,
  }
  return page
})
