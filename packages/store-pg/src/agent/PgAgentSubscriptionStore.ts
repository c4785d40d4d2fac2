/** Agents' subscriptions in PostgreSQL: ordered addresses, with their followers. */
import {
  AgentSubscriptionStore,
  type KeptSubscription,
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_OF_KEY,
  type NewSubscription,
  type SubscriptionHolder,
} from "@data-cabinet/core/agent/AgentSubscriptionStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Result } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { HOLD_ADDRESSES } from "../delivery/AddressStatement.ts"
import { newSecret } from "../delivery/StoredAddress.ts"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import * as Statement from "./AgentSubscriptionStatement.ts"

type Sql = PgClient.PgClient

interface EndRow {
  readonly ends_at: string
}

const idsOf = ({ kind, id }: SubscriptionHolder) => (kind === "key" ? ([id, null] as const) : ([null, id] as const))

const renew = Effect.fnUntraced(function* (
  sql: Sql,
  cipher: SecretCipher,
  row: Statement.KeptRow,
  { secret, lifeSeconds }: NewSubscription,
) {
  const known = Result.getOrNull(cipher.decrypt("signing secret", row.secret))
  if (known !== secret) {
    yield* sql.unsafe(Statement.CHANGE_SECRET, [row.id, cipher.encrypt("signing secret", secret)])
  }
  const [found] = yield* sql.unsafe<Statement.HealthRow>(Statement.HEALTH, [row.id])
  const [renewed] = yield* sql.unsafe<EndRow>(Statement.RENEW, [row.id, lifeSeconds])
  const place = { epoch: Number(row.epoch), xid: BigInt(row.xid), id: Number(row.event_id) }
  return { is: "kept", endsAt: renewed!.ends_at, place, health: healthOf(found!) } satisfies KeptSubscription
})

const healthOf = ({ paused, delivered_at, failed_since: since, status, failure }: Statement.HealthRow) => ({
  isPaused: paused,
  deliveredAt: delivered_at,
  failing: since === null ? null : { since, last: { status, failure } },
})

/** Runs in a transaction. No other subscription is created until its end, so that the limits hold. */
const keep = Effect.fnUntraced(function* (sql: Sql, cipher: SecretCipher, made: NewSubscription) {
  yield* sql.unsafe(HOLD_ADDRESSES)
  yield* sql.unsafe(Statement.END_ENDED)
  const [row] = yield* sql.unsafe<Statement.KeptRow>(Statement.LOCK, [made.subscription])
  if (row !== undefined) return yield* renew(sql, cipher, row, made)
  const ids = idsOf(made.holder)
  const [counts] = yield* sql.unsafe<{ readonly own: number; readonly all: number }>(Statement.COUNT, ids)
  if (counts!.own >= MAX_SUBSCRIPTIONS_OF_KEY) return { is: "too_many", max: MAX_SUBSCRIPTIONS_OF_KEY } as const
  if (counts!.all >= MAX_SUBSCRIPTIONS) return { is: "too_many", max: MAX_SUBSCRIPTIONS } as const
  const { url, subscription, event, sourceId, secret, lifeSeconds, place } = made
  const [created] = yield* sql.unsafe<EndRow>(Statement.CREATE, [
    url,
    newSecret(cipher),
    subscription,
    event,
    sourceId,
    cipher.encrypt("signing secret", secret),
    lifeSeconds,
    ...ids,
    place.epoch,
    place.xid,
    place.id,
  ])
  return { is: "kept", endsAt: created!.ends_at, place, health: null } satisfies KeptSubscription
})

export const layer = Layer.effect(
  AgentSubscriptionStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    return AgentSubscriptionStore.of({
      holder: (fingerprint) =>
        orUnavailable(
          Effect.map(sql.unsafe<SubscriptionHolder>(Statement.HOLDER, [fingerprint]), ([row]) => row ?? null),
        ),
      isVerified: (holder, url) =>
        orUnavailable(Effect.map(sql.unsafe(Statement.VERIFIED, [...idsOf(holder), url]), (rows) => rows.length > 0)),
      keep: (made) => orUnavailable(sql.withTransaction(keep(sql, cipher, made))),
      end: (subscription) =>
        orUnavailable(Effect.map(sql.unsafe(Statement.END, [subscription]), (rows) => rows.length > 0)),
    })
  }),
)
