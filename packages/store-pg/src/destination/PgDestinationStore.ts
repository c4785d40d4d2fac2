/** Destinations in PostgreSQL. What a holder writes is written with its follower's row locked, and decided by `FollowerLease`. */
import {
  type HeldCredentials,
  MAX_DESTINATIONS,
  type StoredDestination,
} from "@data-cabinet/core/destination/Destination"
import type { DestinationCredentials } from "@data-cabinet/core/destination/DestinationCredentials"
import { S3_SETTINGS, type S3Settings } from "@data-cabinet/core/destination/S3Settings"
import {
  type AddObstacle,
  DestinationStore,
  type DestinationWork,
} from "@data-cabinet/core/destination/DestinationStore"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { type FollowerLease, movePlace } from "@data-cabinet/core/follower/FollowerLease"
import { type HeldFollower, LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Result } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type FollowerRow, LOCK_HELD, SET_LEASE, SET_PLACE } from "../follower/FollowerStatement.ts"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { type LockedFollower, toLocked } from "../follower/FollowerTransaction.ts"
import * as Statement from "./DestinationStatement.ts"

type Sql = PgClient.PgClient

interface Obstacles {
  readonly exists: boolean
  readonly known: number
  readonly lacksSource: boolean
}

const PURPOSE = "destination credentials"

const encrypted = (cipher: SecretCipher, credentials: DestinationCredentials | null): string | null =>
  credentials === null ? null : cipher.encrypt(PURPOSE, JSON.stringify(credentials))

const decrypted = (cipher: SecretCipher, stored: string | null): HeldCredentials =>
  stored === null
    ? null
    : Result.match(cipher.decrypt(PURPOSE, stored), {
        onSuccess: (text) => JSON.parse(text) as DestinationCredentials,
        onFailure: () => "unreadable",
      })

const settingValues = (settings: S3Settings) => S3_SETTINGS.all.map(({ key }) => settings[key])

const toStored = (row: Statement.DestinationRow): StoredDestination => {
  const { id, followerId, location, format, sources, tag, createdAt, paused, hasCredentials } = row
  const settings = S3_SETTINGS.ofRow(row)
  return { id, followerId, location, format, sources, tag, createdAt, paused, hasCredentials, ...settings }
}

const toOpen = (cipher: SecretCipher, row: Statement.OpenRow) => ({
  ...toStored(row),
  credentials: decrypted(cipher, row.credentials),
})

const add = (
  sql: Sql,
  cipher: SecretCipher,
  { location, format, sources, tag, credentials, ...settings }: Parameters<DestinationStore["Service"]["add"]>[0],
  { epoch, xid, id }: FeedPlace,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(Statement.LOCK_CREATION)
      const named = sources === null ? null : int8Array(sources)
      const [found] = yield* sql.unsafe<Obstacles>(Statement.OBSTACLES, [location, named])
      const { exists, known, lacksSource } = found!
      if (exists) return "exists" satisfies AddObstacle
      if (known >= MAX_DESTINATIONS) return "full" satisfies AddObstacle
      if (lacksSource) return "no_source" satisfies AddObstacle
      const values = [location, format, named, tag, epoch, xid, id, encrypted(cipher, credentials)]
      const all = [...values, ...settingValues(settings)]
      const [row] = yield* sql.unsafe<Statement.DestinationRow>(Statement.ADD, all)
      return toStored(row!)
    }),
  )

/** Acts for the holder of the current lease; null if that is another. `to`: where its position is to be. */
const holding = <A, E>(
  sql: Sql,
  { id, lease }: HeldFollower,
  to: FeedPlace | null,
  act: (row: LockedFollower, renewed: FollowerLease) => Effect.Effect<A, E>,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<FollowerRow>(LOCK_HELD, [id])
      if (found === undefined) return null
      const row = toLocked(found)
      const renewed = movePlace(row, lease, to ?? row.place, row.now, LEASE_MILLIS)
      return renewed === null ? null : yield* act(row, renewed)
    }),
  )

const work = (sql: Sql, cipher: SecretCipher, held: HeldFollower) =>
  holding(
    sql,
    held,
    null,
    Effect.fnUntraced(function* (row, { lease, leasedUntil }) {
      yield* sql.unsafe(SET_LEASE, [row.id, lease, leasedUntil, row.notBefore, row.failures, null, null])
      const [found] = yield* sql.unsafe<Statement.WorkRow>(Statement.WORK, [row.id])
      if (found === undefined) return Option.none<DestinationWork>()
      const { plannedEpoch, plannedXid, plannedId } = found
      const planned = plannedEpoch === null ? null : { epoch: plannedEpoch, xid: BigInt(plannedXid), id: plannedId }
      return Option.some<DestinationWork>({ destination: toOpen(cipher, found), place: row.place, planned })
    }),
  )

const plan = (sql: Sql, held: HeldFollower, { epoch, xid, id }: FeedPlace) =>
  holding(sql, held, null, (row) => Effect.as(sql.unsafe(Statement.PLAN, [row.id, epoch, xid, id]), true))

const move = (sql: Sql, held: HeldFollower, to: FeedPlace) =>
  holding(sql, held, to, (row, { place, leasedUntil }) =>
    Effect.as(sql.unsafe(SET_PLACE, [row.id, place.epoch, place.xid, place.id, leasedUntil]), true),
  )

export const layer = Layer.effect(
  DestinationStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    const change = (statement: string, values: ReadonlyArray<unknown>) =>
      orUnavailable(Effect.map(sql.unsafe(statement, values), (rows) => rows.length > 0))
    return DestinationStore.of({
      add: (destination, start) => orUnavailable(add(sql, cipher, destination, start)),
      list: orUnavailable(
        Effect.map(sql.unsafe<Statement.DestinationRow>(Statement.LIST), (rows) => rows.map(toStored)),
      ),
      place: (id) =>
        orUnavailable(
          Effect.map(sql.unsafe<Statement.OpenRow>(Statement.OF_ID, [id]), ([row]) =>
            Option.map(Option.fromNullishOr(row), (one) => toOpen(cipher, one)),
          ),
        ),
      change: (id, was, { credentials, ...settings }) =>
        change(Statement.CHANGE, [
          id,
          encrypted(cipher, credentials),
          ...settingValues(settings),
          ...settingValues(was),
        ]),
      restart: (id, tag) => change(Statement.RESTART, [id, tag]),
      pause: (id) => change(Statement.PAUSE, [id]),
      resume: (id) => change(Statement.RESUME, [id]),
      remove: (id) => change(Statement.REMOVE, [id]),
      work: (held) => orUnavailable(Effect.map(work(sql, cipher, held), (found) => found ?? "lost")),
      plan: (held, to) => orUnavailable(Effect.map(plan(sql, held, to), (isHeld) => isHeld ?? false)),
      move: (held, to) => orUnavailable(Effect.map(move(sql, held, to), (isHeld) => isHeld ?? false)),
    })
  }),
)
