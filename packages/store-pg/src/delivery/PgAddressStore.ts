/** Delivery addresses in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import { AddressStore, type SampleEvent } from "@data-cabinet/core/delivery/AddressStore"
import type { JudgedEvent } from "@data-cabinet/core/delivery/TestFilter"
import { Effect, Layer, Option } from "effect"
import { SecretCiphers } from "../key/SecretCipher.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { orTooMany } from "./AddressLimits.ts"
import { ColdActs } from "../cold/ColdActs.ts"
import * as AddressStatement from "./AddressStatement.ts"
import { addressHealth } from "./PgAddressHealth.ts"
import { CANCEL_OF_ADDRESS } from "./DeliveryStatement.ts"
import { AFTER_SLICE } from "./FanOutStatement.ts"
import { SAMPLE_EVENT, type SampleRow } from "./SampleStatement.ts"
import { create, persistently, setAddress } from "./SetAddress.ts"
import { newSecret, toAddress } from "./StoredAddress.ts"

/** How many deliveries one statement cancels when an address is removed. */
const CANCEL_BATCH = 5000

const sampleOf = (row: SampleRow): SampleEvent => ({
  id: row.id,
  createdAt: row.created_at,
  event: { json: Buffer.from(row.json), sourceId: row.source_id, sourceName: row.source_name },
})

const remove = Effect.fnUntraced(function* (sql: PgClient.PgClient, id: number) {
  const removed = yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_ADDRESS, [id]))
  if (removed.length === 0) return { existed: false }
  yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_FOLLOWER, [id]))
  // What the follower wrote is cancelled below; its next slice no longer finds the address.
  yield* orUnavailable(sql.unsafe(AFTER_SLICE))
  for (let count = CANCEL_BATCH; count === CANCEL_BATCH;) {
    const slice = sql.unsafe<{ readonly count: number }>(
      `WITH gone AS (${CANCEL_OF_ADDRESS} RETURNING 1) SELECT count(*)::int AS count FROM gone`,
      [id, CANCEL_BATCH],
    )
    count = (yield* orUnavailable(slice))[0]!.count
  }
  return { existed: true }
})

export const layer = Layer.effect(
  AddressStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    const cold = yield* ColdActs
    const address = toAddress(cipher)

    const find = (id: number) =>
      Effect.map(sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ADDRESS_BY_ID, [id]), ([row]) =>
        Option.map(Option.fromNullishOr(row), address),
      )

    const listed = (statement: string, parameters: ReadonlyArray<unknown>) =>
      orUnavailable(
        Effect.map(sql.unsafe<AddressStatement.AddressRow>(statement, parameters), (rows) => rows.map(address)),
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
      list: ({ after, limit, failing = false }) =>
        listed(failing ? AddressStatement.PAGE_OF_FAILING : AddressStatement.PAGE_OF_ADDRESSES, [after, limit]),
      some: (ids) => listed(AddressStatement.SOME_ADDRESSES, [ids]),
      health: (ids) => addressHealth(sql, ids),
      inOrder: (sourceId, limit) => listed(AddressStatement.IN_ORDER_OF_SOURCE, [sourceId, limit]),
      troubled: (trouble, limit) => listed(AddressStatement.TROUBLED_ADDRESSES[trouble], [limit]),
      count: orUnavailable(
        Effect.map(sql.unsafe<{ readonly count: number }>(AddressStatement.COUNT_ADDRESSES), ([row]) => row!.count),
      ),
      get: (id) => orUnavailable(find(id)),
      set: (id, made, was) =>
        persistently(
          sql,
          Effect.suspend(() => setAddress({ sql, cipher }, id, made, was)),
        ).pipe(
          // After the commit: accepts wait for it.
          Effect.flatMap((isSet) => (isSet ? find(id) : Effect.succeed(Option.none()))),
          orTooMany,
          orUnavailable,
        ),
      remove: (id) => remove(sql, id),
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
      sample: (id, eventId) =>
        orUnavailable(
          cold.need(eventId === null ? [] : [eventId]).pipe(
            Effect.andThen(sql.unsafe<SampleRow>(SAMPLE_EVENT, [id, eventId])),
            Effect.map(([row]) => Option.map(Option.fromNullishOr(row), sampleOf)),
          ),
        ),
      judged: (id, eventId) =>
        orUnavailable(
          cold.need([eventId]).pipe(
            Effect.andThen(sql.unsafe<JudgedEvent>(AddressStatement.JUDGED_EVENT, [id, eventId])),
            Effect.map(([row]) => Option.fromNullishOr(row)),
          ),
        ),
    })
  }),
)
