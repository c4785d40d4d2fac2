/** The followers of clients in PostgreSQL. An acknowledgement locks the row, and writes what `movesTo` decides. */
import { parsePosition, writePosition } from "@data-cabinet/core/feed/FeedParams"
import type { FeedPlace, FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import {
  type Acknowledged,
  type FollowerFilter,
  MAX_CLIENT_FOLLOWERS,
  MAX_FOLLOWERS_OF_KEY,
  movesTo,
} from "@data-cabinet/core/follower/ClientFollower"
import {
  type AckOutcome,
  ClientFollowerStore,
  type FollowerOf,
  type KeptFollower,
} from "@data-cabinet/core/follower/ClientFollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as Statement from "./ClientFollowerStatement.ts"

type Sql = PgClient.PgClient

const toKept = ({ position, ...row }: Statement.ClientRow): KeptFollower => {
  const parsed = parsePosition(position)
  if (parsed === undefined) throw new Error(`The position of follower ${row.id} was written by another version.`)
  return { ...row, position: parsed }
}

const isThere = (sql: Sql, { epoch, xid, id, receivedAt = 0n }: FeedPlace) =>
  Effect.map(
    sql.unsafe<{ readonly there: boolean }>(Statement.IS_THERE, [epoch, xid, id, receivedAt]),
    ([row]) => row!.there,
  )

const placeOf = (position: FeedPosition) =>
  [position.epoch, position.xid, position.id, writePosition(position)] as const

const create = Effect.fnUntraced(function* (
  sql: Sql,
  { fingerprint, name }: FollowerOf,
  { sourceId, channel }: FollowerFilter,
  position: FeedPosition,
) {
  const [holder] = yield* sql.unsafe<Statement.HolderRow>(Statement.FIND_HOLDER, [fingerprint])
  if (holder === undefined) return { refused: "no_key" } as const
  const { keyId, tokenId } = holder
  yield* sql.unsafe(Statement.REMOVE_ENDED)
  const [counts] = yield* sql.unsafe<{ readonly own: number; readonly all: number }>(Statement.COUNT, [keyId, tokenId])
  if (counts!.own >= MAX_FOLLOWERS_OF_KEY) return { refused: "key_full" } as const
  if (counts!.all >= MAX_CLIENT_FOLLOWERS) return { refused: "cabinet_full" } as const
  const values = [keyId, tokenId, name, sourceId, channel, ...placeOf(position)]
  const [row] = yield* sql.unsafe<Statement.ClientRow>(Statement.CREATE, values)
  return { refused: null, kept: toKept(row!), moved: true } as const
})

const acknowledge = (sql: Sql, of: FollowerOf, filter: FollowerFilter, acknowledged: Acknowledged) => {
  const lock = Effect.map(sql.unsafe<Statement.ClientRow>(Statement.LOCK, [of.fingerprint, of.name]), ([row]) =>
    row === undefined ? null : toKept(row),
  )
  return sql.withTransaction(
    Effect.gen(function* (): Effect.fn.Return<AckOutcome, Effect.Error<typeof lock>> {
      let kept = yield* lock
      if (kept === null) {
        yield* sql.unsafe(Statement.LOCK_CREATION)
        // Another request may have created it meanwhile.
        kept = yield* lock
      }
      if (kept === null) return yield* create(sql, of, filter, acknowledged.position)
      const isSame = kept.sourceId === filter.sourceId && kept.channel === filter.channel
      if (!isSame) return { refused: null, kept, moved: false }
      const there = {
        kept: yield* isThere(sql, kept.position),
        acknowledged: yield* isThere(sql, acknowledged.position),
      }
      if (!movesTo(kept, acknowledged, there)) return { refused: null, kept, moved: false }
      const [row] = yield* sql.unsafe<Statement.ClientRow>(Statement.SET_POSITION, [
        kept.id,
        ...placeOf(acknowledged.position),
        0,
      ])
      return { refused: null, kept: toKept(row!), moved: true }
    }),
  )
}

export const layer = Layer.effect(
  ClientFollowerStore,
  Effect.map(PgClient.PgClient, (sql) =>
    ClientFollowerStore.of({
      find: ({ fingerprint, name }) =>
        orUnavailable(
          Effect.map(sql.unsafe<Statement.ClientRow>(Statement.FIND, [fingerprint, name]), ([row]) =>
            row === undefined ? null : toKept(row),
          ),
        ),
      acknowledge: (of, filter, acknowledged) => orUnavailable(acknowledge(sql, of, filter, acknowledged)),
      get: (id) =>
        orUnavailable(
          Effect.map(sql.unsafe<Statement.ClientRow>(Statement.GET, [id]), ([row]) =>
            Option.map(Option.fromNullishOr(row), toKept),
          ),
        ),
      reset: (id, position) =>
        orUnavailable(
          Effect.map(sql.unsafe(Statement.SET_POSITION, [id, ...placeOf(position), 1]), (rows) => rows.length > 0),
        ),
      remove: (id) => orUnavailable(Effect.map(sql.unsafe(Statement.REMOVE, [id]), (rows) => rows.length > 0)),
    }),
  ),
)
