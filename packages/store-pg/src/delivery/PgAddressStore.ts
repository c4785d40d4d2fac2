/** Delivery addresses in PostgreSQL. */
import { PgClient } from "@effect/sql-pg"
import type { Address, Subscription } from "@data-cabinet/core/delivery/Address"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { AddressError } from "@data-cabinet/core/delivery/AddressError"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as AddressStatement from "./AddressStatement.ts"
import { CANCEL_OF_ADDRESS } from "./DeliveryStatement.ts"

/** How many deliveries one statement cancels when an address is removed. */
const CANCEL_BATCH = 5000

const toAddress = (row: AddressStatement.AddressRow): Address => ({
  id: row.id,
  url: row.url,
  secret: row.secret,
  previousSecret:
    row.previous_secret !== null && row.previous_until !== null
      ? { secret: row.previous_secret, until: row.previous_until }
      : null,
  sources: row.sources === null ? "all" : (JSON.parse(row.sources) as ReadonlyArray<number>),
  createdAt: row.created_at,
  pausedAt: row.paused_at,
  failingSince: row.failing_since,
})

const noSuchAddress = (id: number) =>
  new AddressError({ code: "no_such_address", message: `there is no delivery address ${id}` })

export const layer = Layer.effect(
  AddressStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    const find = Effect.fnUntraced(function* (id: number) {
      const [row] = yield* sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ADDRESS_BY_ID, [id])
      return row === undefined ? yield* Effect.fail(noSuchAddress(id)) : toAddress(row)
    })

    const knownSources = Effect.fnUntraced(function* (sources: Subscription) {
      if (sources === "all") return []
      const [unknown] = yield* sql.unsafe<{ readonly id: number }>(AddressStatement.UNKNOWN_SOURCES, [sources])
      if (unknown === undefined) return sources
      const message = `there is no source ${unknown.id}`
      return yield* Effect.fail(new AddressError({ code: "no_such_source", message }))
    })

    const changing = (statement: string) => (id: number) =>
      orUnavailable(Effect.andThen(sql.unsafe(statement, [id]), find(id)))

    return AddressStore.of({
      create: (address) =>
        orUnavailable(
          Effect.gen(function* () {
            const sources = yield* knownSources(address.sources)
            const parameters = [address.url, address.sources === "all", sources]
            const [made] = yield* sql.unsafe<{ readonly id: number }>(AddressStatement.CREATE_ADDRESS, parameters)
            return yield* find(made!.id)
          }),
        ),
      list: orUnavailable(
        Effect.map(sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ALL_ADDRESSES), (rows) =>
          rows.map(toAddress),
        ),
      ),
      get: (id) => orUnavailable(find(id)),
      set: (id, change) =>
        orUnavailable(
          sql.withTransaction(
            Effect.gen(function* () {
              const sources = yield* knownSources(change.sources ?? "all")
              if (change.url !== undefined) yield* sql.unsafe(AddressStatement.SET_URL, [id, change.url])
              if (change.sources !== undefined) {
                yield* sql.unsafe(AddressStatement.SET_SOURCES, [id, change.sources === "all", sources])
              }
              return yield* find(id)
            }),
          ),
        ),
      remove: Effect.fnUntraced(function* (id) {
        const removed = yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_ADDRESS, [id]))
        if (removed.length === 0) return yield* Effect.fail(noSuchAddress(id))
        for (let count = CANCEL_BATCH; count === CANCEL_BATCH;) {
          const slice = sql.unsafe<{ readonly count: number }>(
            `WITH gone AS (${CANCEL_OF_ADDRESS} RETURNING 1) SELECT count(*)::int AS count FROM gone`,
            [id, CANCEL_BATCH],
          )
          count = (yield* orUnavailable(slice))[0]!.count
        }
      }),
      pause: changing(AddressStatement.PAUSE_ADDRESS),
      resume: changing(AddressStatement.RESUME_ADDRESS),
      rotateSecret: changing(AddressStatement.ROTATE_SECRET),
    })
  }),
)
