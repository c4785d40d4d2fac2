/** Delivery addresses in PostgreSQL. */
import { randomBytes } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import {
  type Address,
  type AddressChange,
  type Batching,
  type NewAddress,
  NO_BATCHES,
  type OrderedPosition,
  type Subscription,
} from "@data-cabinet/core/delivery/Address"
import { MAX_HEADERS } from "@data-cabinet/core/delivery/AddressSettings"
import { AddressStore, MAX_ORDERED, type SeenAddress } from "@data-cabinet/core/delivery/AddressStore"
import { certificateIn, type ClientIdentity } from "@data-cabinet/core/delivery/ClientCertificate"
import type { FieldFilters } from "@data-cabinet/core/delivery/FieldFilter"
import { mergeHeaders } from "@data-cabinet/core/delivery/HeaderChange"
import type { JudgedEvent } from "@data-cabinet/core/delivery/TestFilter"
import { Effect, Layer, Option, Result, Schedule } from "effect"
import { SqlError } from "effect/sql"
import type { RequestHeader } from "@data-cabinet/core/network/RequestHeader"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { encryptHeaders, type StoredHeader } from "../key/StoredHeaders.ts"
import { isConflict, orUnavailable } from "../connection/StoreFailure.ts"
import { type Gain, gaining, orTooMany, Overfull } from "./AddressLimits.ts"
import * as AddressStatement from "./AddressStatement.ts"
import { CANCEL_OF_ADDRESS } from "./DeliveryStatement.ts"
import { AFTER_SLICE, WRITE_OF_ADDRESS } from "./FanOutStatement.ts"

/** How many deliveries one statement cancels when an address is removed. */
const CANCEL_BATCH = 5000

/** 256 random bits, in the form of Standard Webhooks. */
const newSecret = (cipher: SecretCipher): string =>
  cipher.encrypt("signing secret", `whsec_${randomBytes(32).toString("base64")}`)

/** A secret that cannot be decrypted is shown as stored: one broken secret must not hide the others. */
const toAddress = (cipher: SecretCipher) => {
  const shown = (stored: string) => Result.getOrElse(cipher.decrypt("signing secret", stored), () => stored)
  return (row: AddressStatement.AddressRow): Address => ({
    id: row.id,
    url: row.url,
    secret: shown(row.secret),
    previousSecret:
      row.previous_secret !== null && row.previous_until !== null
        ? { secret: shown(row.previous_secret), until: row.previous_until }
        : null,
    sources: row.sources === null ? "all" : (JSON.parse(row.sources) as ReadonlyArray<number>),
    filters: row.filters === null ? [] : (JSON.parse(row.filters) as FieldFilters),
    filteredEvents: row.filtered_events,
    headerNames: JSON.parse(row.header_names) as ReadonlyArray<string>,
    clientCertificate: certificateIn(row.client_certificate ?? ""),
    rate: row.rate,
    timeoutSeconds: row.timeout_seconds,
    giveUpAfterSeconds: row.give_up_after_seconds,
    pauseOnGone: row.pause_on_gone,
    order: row.in_order ? "feed" : "none",
    batch: { max: row.batch_max, wait: row.batch_wait_seconds },
    position: row.position === null ? null : (JSON.parse(row.position) as OrderedPosition),
    createdAt: row.created_at,
    pausedAt: row.paused_at,
    pausedBecause: row.paused_because,
    failingSince: row.failing_since,
  })
}

const sourcesOf = (sources: Subscription) => (sources === "all" ? [] : sources)

const storedFilters = (filters: FieldFilters): string | null => (filters.length === 0 ? null : JSON.stringify(filters))

const encrypted = (cipher: SecretCipher, headers: ReadonlyArray<RequestHeader>) =>
  encryptHeaders(cipher, "address header", headers)

const headersText = (headers: ReadonlyArray<StoredHeader>): string | null =>
  headers.length === 0 ? null : JSON.stringify(headers)

type Sql = PgClient.PgClient

/** How long a slow accept may hold up other accepts before a change of a filter lets them continue and tries again. */
const HOLD_TIMEOUT = "SET LOCAL lock_timeout = '300ms'"

/**
 * Makes a change that gives the sources of an address other filters. It takes effect entirely before or after each
 * accept: an event is delivered by the filter that is in force at its commit.
 */
const betweenAccepts = <A, E>(sql: Sql, change: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    yield* sql.unsafe(HOLD_TIMEOUT)
    yield* sql.unsafe(AddressStatement.HOLD_SOURCES)
    const changed = yield* change
    // Last: no other session sees the change before the commit, for which accepts then only wait.
    yield* sql.unsafe(AddressStatement.HOLD_ACCEPTS)
    return changed
  })

/** A transaction that is done again if it could not have the locks that it needs. */
const persistently = <A, E>(sql: Sql, work: Effect.Effect<A, E>) =>
  sql.withTransaction(work).pipe(
    Effect.retry({
      while: (error) => SqlError.isSqlError(error) && isConflict(error),
      schedule: Schedule.spaced("200 millis"),
      times: 10,
    }),
  )

const renewSources = (sql: Sql, id: number) => sql.unsafe(AddressStatement.RENEW_SOURCES, [id])

type StoredChange = Omit<AddressChange, "headers" | "setHeaders" | "removeHeaders" | "clientIdentity"> & {
  readonly headers?: string | null
  /** The parameters of its statement. */
  readonly identity?: ReadonlyArray<string | null>
}

const changesHeaders = ({ headers, setHeaders, removeHeaders }: AddressChange): boolean =>
  headers !== undefined || setHeaders !== undefined || removeHeaders !== undefined

/** A change of the address that has these headers, which are not decrypted; none if it would have too many. */
const storedChange = (cipher: SecretCipher, made: AddressChange, was: string): Option.Option<StoredChange> => {
  const { headers, setHeaders = [], removeHeaders, clientIdentity, ...others } = made
  const settings = {
    ...others,
    ...(clientIdentity === undefined ? {} : { identity: storedIdentity(cipher, clientIdentity) }),
  }
  if (!changesHeaders(made)) return Option.some(settings)
  const all =
    headers === undefined
      ? mergeHeaders(JSON.parse(was) as ReadonlyArray<StoredHeader>, encrypted(cipher, setHeaders), removeHeaders)
      : encrypted(cipher, headers)
  return all.length > MAX_HEADERS ? Option.none() : Option.some({ ...settings, headers: headersText(all) })
}

/** The parameters of a client certificate, of which the key is a secret. */
const storedIdentity = (cipher: SecretCipher, identity: ClientIdentity | null): ReadonlyArray<string | null> => {
  if (identity === null) return [null, null, null]
  const { certificate, key } = identity
  return [certificate, cipher.encrypt("client key", key), certificateIn(certificate)!.endsAt]
}

type Sending = Pick<StoredChange, "rate" | "timeoutSeconds" | "giveUpAfterSeconds" | "pauseOnGone" | "identity">

const changeSending = Effect.fnUntraced(function* (sql: Sql, id: number, changed: Sending) {
  const { rate, timeoutSeconds, giveUpAfterSeconds, pauseOnGone, identity } = changed
  if (rate !== undefined) yield* sql.unsafe(AddressStatement.SET_RATE, [id, rate])
  if (timeoutSeconds !== undefined) yield* sql.unsafe(AddressStatement.SET_TIMEOUT, [id, timeoutSeconds])
  if (giveUpAfterSeconds !== undefined) yield* sql.unsafe(AddressStatement.SET_GIVE_UP, [id, giveUpAfterSeconds])
  if (pauseOnGone !== undefined) yield* sql.unsafe(AddressStatement.SET_PAUSE_ON_GONE, [id, pauseOnGone])
  if (identity !== undefined) yield* sql.unsafe(AddressStatement.SET_CLIENT_CERTIFICATE, [id, ...identity])
})

const change = Effect.fnUntraced(function* (sql: Sql, id: number, changed: StoredChange) {
  const { url, sources, filters, headers } = changed
  if (url !== undefined) yield* sql.unsafe(AddressStatement.SET_URL, [id, url])
  if (sources !== undefined) {
    yield* sql.unsafe(AddressStatement.SET_SOURCES, [id, sources === "all", sourcesOf(sources)])
  }
  if (filters !== undefined) yield* sql.unsafe(AddressStatement.SET_FILTERS, [id, storedFilters(filters)])
  if (headers !== undefined) yield* sql.unsafe(AddressStatement.SET_HEADERS, [id, headers])
  yield* changeSending(sql, id, changed)
})

/** The sources that it has no longer get a new version, as do those that it has from now on. */
const changeFiltered = Effect.fnUntraced(function* (sql: Sql, id: number, changed: StoredChange) {
  yield* renewSources(sql, id)
  yield* change(sql, id, changed)
  yield* renewSources(sql, id)
})

/** A filter holds from a moment between two accepts on. */
const create = (sql: Sql, cipher: SecretCipher, made: NewAddress) => {
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
const AT_START: OrderedPosition = { eventId: null, behindSeconds: 0, failures: 0, error: null, retryAt: null }

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
  yield* renewSources(sql, id)
  // Before the change: its subscriptions end or begin at the event at which its rule does.
  yield* sql.unsafe(AddressStatement.HOLD_ACCEPTS)
  yield* change(sql, id, { ...changed, sources: order.inOrder ? [] : sources })
  yield* setOrder(sql, id, order)
  yield* renewSources(sql, id)
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

/** Whether the change is still one of the address that was seen. */
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

/** In a transaction, which is repeated as a whole. Returns none and changes nothing as in `set`. */
const setAddress = Effect.fnUntraced(function* (
  parts: { readonly sql: Sql; readonly cipher: SecretCipher },
  id: number,
  made: AddressChange,
  was: SeenAddress,
  find: Effect.Effect<Option.Option<Address>, SqlError.SqlError>,
) {
  const { sql } = parts
  const locked = yield* lockedFor(parts, id, made, was)
  if (Option.isNone(locked)) return Option.none()
  const { changed, touchesFilters, gain, was: row } = locked.value
  const order = orderAfter(row, made)
  if (order.inOrder || row.in_order) {
    const sources = made.sources ?? row.sources ?? "all"
    const touchesRule = order.inOrder !== row.in_order || made.sources !== undefined || made.filters !== undefined
    if (!touchesRule) {
      yield* change(sql, id, changed)
      yield* setOrder(sql, id, order)
      return yield* find
    }
    // Its last slice is written before the accepts are held, which then wait for no slice.
    yield* sql.unsafe(AFTER_SLICE)
    const work = changeOrder(sql, id, changed, { was: row, order, sources })
    const bounded = order.inOrder ? work : gaining(sql, { ...gain, sources, had: [], wasFiltered: false }, work)
    yield* betweenAccepts(sql, bounded)
    yield* addRule(sql, id, order.inOrder ? sources : [])
    if (order.inOrder && !row.in_order) {
      yield* sql.unsafe(WRITE_OF_ADDRESS, [id])
      yield* sql.unsafe(AddressStatement.AWAIT_ROWS, [id])
    }
    return yield* find
  }
  const whole = Effect.andThen((touchesFilters ? changeFiltered : change)(sql, id, changed), find)
  const gains = changed.sources !== undefined || (gain.filtered && !gain.wasFiltered)
  const added = gains ? gaining(sql, gain, whole) : whole
  return yield* touchesFilters ? betweenAccepts(sql, added) : added
})

export const layer = Layer.effect(
  AddressStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    const address = toAddress(cipher)

    const find = (id: number) =>
      Effect.map(sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ADDRESS_BY_ID, [id]), ([row]) =>
        Option.map(Option.fromNullishOr(row), address),
      )

    const changing = (statement: string) => (id: number) =>
      orUnavailable(Effect.andThen(sql.unsafe(statement, [id]), find(id)))

    return AddressStore.of({
      unknownSource: (sources) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<{ readonly id: number }>(AddressStatement.UNKNOWN_SOURCES, [sources]),
            ([unknown]) => unknown?.id ?? null,
          ),
        ),
      create: (made) => orUnavailable(orTooMany(create(sql, cipher, made))),
      list: orUnavailable(
        Effect.map(sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ALL_ADDRESSES), (rows) =>
          rows.map(address),
        ),
      ),
      get: (id) => orUnavailable(find(id)),
      set: (id, made, was) =>
        orUnavailable(
          persistently(
            sql,
            Effect.suspend(() => setAddress({ sql, cipher }, id, made, was, find(id))),
          ).pipe(orTooMany),
        ),
      remove: Effect.fnUntraced(function* (id) {
        const removed = yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_ADDRESS, [id]))
        if (removed.length === 0) return { existed: false }
        yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_FOLLOWER, [id]))
        // What it wrote is cancelled below; its next slice does not know the address.
        yield* orUnavailable(sql.unsafe(AFTER_SLICE))
        for (let count = CANCEL_BATCH; count === CANCEL_BATCH;) {
          const slice = sql.unsafe<{ readonly count: number }>(
            `WITH gone AS (${CANCEL_OF_ADDRESS} RETURNING 1) SELECT count(*)::int AS count FROM gone`,
            [id, CANCEL_BATCH],
          )
          count = (yield* orUnavailable(slice))[0]!.count
        }
        return { existed: true }
      }),
      pause: changing(AddressStatement.PAUSE_ADDRESS),
      resume: (id) =>
        orUnavailable(
          Effect.gen(function* () {
            yield* sql.unsafe(AddressStatement.RESUME_ADDRESS, [id])
            yield* sql.unsafe(AddressStatement.TRY_NOW, [id])
            return yield* find(id)
          }),
        ),
      rotateSecret: (id) =>
        orUnavailable(Effect.andThen(sql.unsafe(AddressStatement.ROTATE_SECRET, [id, newSecret(cipher)]), find(id))),
      judged: (id, eventId) =>
        orUnavailable(
          Effect.map(sql.unsafe<JudgedEvent>(AddressStatement.JUDGED_EVENT, [id, eventId]), ([row]) =>
            Option.fromNullishOr(row),
          ),
        ),
    })
  }),
)
