/**
 * Creates and changes addresses. What decides about events (sources, filter, order) takes effect between two accepts, and every
 * change is one transaction.
 */
import type { PgClient } from "@effect/sql-pg"
import type { OrderedPosition, Subscription } from "@data-cabinet/core/delivery/Address"
import { type Batching, NO_BATCHES } from "@data-cabinet/core/delivery/SendingSettings"
import { MAX_ORDERED, type SeenAddress } from "@data-cabinet/core/delivery/AddressStore"
import { certificateIn } from "@data-cabinet/core/delivery/ClientCertificate"
import { Effect, Option, Schedule } from "effect"
import { SqlError } from "effect/sql"
import { isConflict } from "../connection/StoreFailure.ts"
import type { SecretCipher } from "../key/SecretCipher.ts"
import type { StoredHeader } from "../key/StoredHeaders.ts"
import { type Gain, gaining, Overfull } from "./AddressLimits.ts"
import * as AddressStatement from "./AddressStatement.ts"
import {
  change,
  changeSending,
  changesHeaders,
  encrypted,
  headersText,
  newSecret,
  sourcesOf,
  type StoredChange,
  storedChange,
  storedFilters,
  storedIdentity,
  toAddress,
} from "./StoredAddress.ts"
import type { AddressChange, NewAddress } from "@data-cabinet/core/delivery/NewAddress"

type Sql = PgClient.PgClient

/** How long a slow accept may hold up other accepts before a change of a filter lets them continue and tries again. */
const HOLD_TIMEOUT = "SET LOCAL lock_timeout = '300ms'"

/**
 * Makes a change that gives the sources of an address other filters. It takes effect entirely before or after each
 * accept: an event is delivered by the filter that is in force at its commit.
 */
const betweenAccepts = <A, E>(sql: Sql, changing: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    yield* sql.unsafe(HOLD_TIMEOUT)
    yield* sql.unsafe(AddressStatement.HOLD_SOURCES)
    const changed = yield* changing
    // Last: no other session sees the change before the commit, for which accepts then only wait.
    yield* sql.unsafe(AddressStatement.HOLD_ACCEPTS)
    return changed
  })

/** A transaction that is done again if it could not have the locks that it needs. */
export const persistently = <A, E>(sql: Sql, work: Effect.Effect<A, E>) =>
  sql.withTransaction(work).pipe(
    Effect.retry({
      while: (error) => SqlError.isSqlError(error) && isConflict(error),
      schedule: Schedule.spaced("200 millis"),
      times: 10,
    }),
  )

const renewSources = (sql: Sql, id: number) => sql.unsafe(AddressStatement.RENEW_SOURCES, [id])

/** Sources that it loses get a new version, and so do those that it has from now on. */
const changeFiltered = Effect.fnUntraced(function* (sql: Sql, id: number, changed: StoredChange) {
  yield* renewSources(sql, id)
  yield* change(sql, id, changed)
  yield* renewSources(sql, id)
})

/** A filter takes effect between two accepts. */
export const create = (sql: Sql, cipher: SecretCipher, made: NewAddress) => {
  const { url, sources, filters = [], headers = [], clientIdentity = null, order, batch = NO_BATCHES, ...others } = made
  const sending = clientIdentity === null ? others : { ...others, identity: storedIdentity(cipher, clientIdentity) }
  const inOrder = order === "feed"
  const creation = Effect.gen(function* () {
    const parameters = [
      url,
      sources === "all" && !inOrder,
      inOrder ? [] : sourcesOf(sources),
      newSecret(cipher),
      storedFilters(filters),
      headersText(encrypted(cipher, headers)),
    ]
    const [created] = yield* sql.unsafe<{ readonly id: number }>(AddressStatement.CREATE_ADDRESS, parameters)
    const { id } = created!
    yield* changeSending(sql, id, sending)
    if (inOrder) yield* setOrder(sql, id, { inOrder, batch })
    const [row] = yield* sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ADDRESS_BY_ID, [id])
    return toAddress(cipher)(row!)
  })
  if (inOrder) {
    const created = Effect.andThen(sql.unsafe(AddressStatement.HOLD_ADDRESSES), creation)
    const whole = Effect.flatMap(betweenAccepts(sql, created), (address) =>
      Effect.as(addRule(sql, address.id, sources), { ...address, sources, position: AT_START }),
    )
    return persistently(sql, whole)
  }
  const isFiltered = filters.length > 0
  const added = gaining(sql, { sources, had: [], filtered: isFiltered, wasFiltered: false }, creation)
  if (!isFiltered) return sql.withTransaction(added)
  const filtered = Effect.tap(added, ({ id }) => renewSources(sql, id))
  return persistently(sql, betweenAccepts(sql, filtered))
}

/** The position of an address whose order has just begun. */
const AT_START: OrderedPosition = {
  eventId: null,
  behindSeconds: 0,
  waitsAt: null,
  failures: 0,
  error: null,
  retryAt: null,
}

interface Order {
  readonly inOrder: boolean
  readonly batch: Batching
}

/** Also refuses a new order of too many addresses, while no other address gets one. */
const setOrder = Effect.fnUntraced(function* (sql: Sql, id: number, { inOrder, batch }: Order) {
  yield* sql.unsafe(AddressStatement.SET_ORDER, [id, inOrder, batch.max, batch.wait])
  const [counted] = yield* sql.unsafe<{ readonly overfull: boolean }>(AddressStatement.TOO_MANY_IN_ORDER, [MAX_ORDERED])
  if (inOrder && counted!.overfull) yield* new Overfull({ sourceId: null, filtered: false })
})

/** After this moment between two accepts the address in order has these sources, and its current filter. */
const addRule = (sql: Sql, id: number, sources: Subscription) =>
  sql.unsafe(AddressStatement.ADD_RULE, [id, sources === "all", sourcesOf(sources)])

/**
 * Changes what decides about the events of an address that is, or was, in order. Accepts find no subscription of one in order.
 * When the order ends, its last rule sends nothing: earlier events stay with the follower, later ones become rows.
 */
const changeOrder = Effect.fnUntraced(function* (
  sql: Sql,
  id: number,
  changed: StoredChange,
  { was, order, sources }: { readonly was: LockedRow; readonly order: Order; readonly sources: Subscription },
) {
  if (order.inOrder !== was.in_order) yield* sql.unsafe(AddressStatement.HOLD_ADDRESSES)
  yield* setOrder(sql, id, order)
  yield* renewSources(sql, id)
  // Before the change: its subscriptions end or begin at the event at which its rule does.
  yield* sql.unsafe(AddressStatement.HOLD_ACCEPTS)
  yield* change(sql, id, { ...changed, sources: order.inOrder ? [] : sources })
  if (!order.inOrder) yield* renewSources(sql, id)
})

interface LockedRow {
  readonly in_order: boolean
  readonly batch_max: number
  readonly batch_wait_seconds: number
  readonly url: string
  readonly filtered: boolean
  readonly headers: string
  readonly client_certificate: string | null
  /** Null for every source. */
  readonly sources: ReadonlyArray<number> | null
}

const isNamedAlike = (headers: string, names: ReadonlyArray<string>): boolean => {
  const stored = JSON.parse(headers) as ReadonlyArray<StoredHeader>
  return stored.length === names.length && stored.every(([name]) => names.includes(name))
}

/** Whether the address is still in the state that the change was made for. */
const isSeen = (row: LockedRow, made: AddressChange, was: SeenAddress): boolean => {
  const isIdentified = made.clientIdentity !== undefined
  if (made.url === undefined) return !(changesHeaders(made) || isIdentified) || row.url === was.url
  const hasHeadersSeen = made.headers !== undefined || isNamedAlike(row.headers, was.headerNames)
  const identified = certificateIn(row.client_certificate ?? "")?.fingerprint
  return row.url === was.url && hasHeadersSeen && (isIdentified || identified === was.clientCertificate?.fingerprint)
}

/** Whether a change affects a filter's decisions, and the stored address; locks the address. None as in `set`. */
const lockedFor = Effect.fnUntraced(function* (
  { sql, cipher }: { readonly sql: Sql; readonly cipher: SecretCipher },
  id: number,
  made: AddressChange,
  was: SeenAddress,
) {
  const [row] = yield* sql.unsafe<LockedRow>(AddressStatement.LOCK_ADDRESS, [id])
  if (row === undefined || !isSeen(row, made, was)) return Option.none()
  const { sources, filters } = made
  const touchesFilters =
    (sources !== undefined || filters !== undefined) && (row.filtered || (filters?.length ?? 0) > 0)
  return Option.map(storedChange(cipher, made, row.headers), (changed) => ({
    changed,
    touchesFilters,
    was: row,
    gain: {
      sources: sources ?? row.sources ?? "all",
      had: row.sources ?? "all",
      filtered: filters === undefined ? row.filtered : filters.length > 0,
      wasFiltered: row.filtered,
    } satisfies Gain,
  }))
})

const orderAfter = (row: LockedRow, { order, batch }: AddressChange): Order => {
  const inOrder = order === undefined ? row.in_order : order === "feed"
  const given = batch ?? { max: row.batch_max, wait: row.batch_wait_seconds }
  return { inOrder, batch: inOrder ? given : NO_BATCHES }
}

/** Runs in a transaction, which is repeated as a whole. Returns false as `set` does, and then changes nothing. */
export const setAddress = Effect.fnUntraced(function* (
  parts: { readonly sql: Sql; readonly cipher: SecretCipher },
  id: number,
  made: AddressChange,
  was: SeenAddress,
) {
  const { sql } = parts
  const locked = yield* lockedFor(parts, id, made, was)
  if (Option.isNone(locked)) return false
  const { changed, touchesFilters, gain, was: row } = locked.value
  const order = orderAfter(row, made)
  if (order.inOrder || row.in_order) {
    const sources = made.sources ?? row.sources ?? "all"
    const touchesRule = order.inOrder !== row.in_order || made.sources !== undefined || made.filters !== undefined
    if (!touchesRule) {
      yield* change(sql, id, changed)
      yield* setOrder(sql, id, order)
      return true
    }
    const work = changeOrder(sql, id, changed, { was: row, order, sources })
    const bounded = order.inOrder ? work : gaining(sql, { ...gain, sources, had: [], wasFiltered: false }, work)
    yield* betweenAccepts(sql, bounded)
    yield* addRule(sql, id, order.inOrder ? sources : [])
    if (order.inOrder && !row.in_order) yield* sql.unsafe(AddressStatement.AWAIT_EARLIER, [id])
    return true
  }
  const whole = (touchesFilters ? changeFiltered : change)(sql, id, changed)
  const gains = changed.sources !== undefined || (gain.filtered && !gain.wasFiltered)
  const added = gains ? gaining(sql, gain, whole) : whole
  yield* touchesFilters ? betweenAccepts(sql, added) : added
  return true
})
