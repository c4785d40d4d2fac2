/** Delivery addresses in PostgreSQL. */
import { randomBytes } from "node:crypto"
import { PgClient } from "@effect/sql-pg"
import type { Address, Subscription } from "@data-cabinet/core/delivery/Address"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { Effect, Layer, Option, Result } from "effect"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as AddressStatement from "./AddressStatement.ts"
import { CANCEL_OF_ADDRESS } from "./DeliveryStatement.ts"

/** How many deliveries one statement cancels when an address is removed. */
const CANCEL_BATCH = 5000

/** 256 random bits, in the form of Standard Webhooks. */
const newSecret = (cipher: SecretCipher): string =>
  cipher.encrypt("signing secret", `whsec_${randomBytes(32).toString("base64")}`)

/** A secret that cannot be decrypted is shown as it is stored: what is wrong with one must not hide the others. */
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
    createdAt: row.created_at,
    pausedAt: row.paused_at,
    failingSince: row.failing_since,
  })
}

const sourcesOf = (sources: Subscription) => (sources === "all" ? [] : sources)

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
      create: ({ url, sources }) =>
        orUnavailable(
          Effect.gen(function* () {
            const parameters = [url, sources === "all", sourcesOf(sources), newSecret(cipher)]
            const [created] = yield* sql.unsafe<{ readonly id: number }>(AddressStatement.CREATE_ADDRESS, parameters)
            const [row] = yield* sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ADDRESS_BY_ID, [created!.id])
            return address(row!)
          }),
        ),
      list: orUnavailable(
        Effect.map(sql.unsafe<AddressStatement.AddressRow>(AddressStatement.ALL_ADDRESSES), (rows) =>
          rows.map(address),
        ),
      ),
      get: (id) => orUnavailable(find(id)),
      set: (id, change) =>
        orUnavailable(
          sql.withTransaction(
            Effect.gen(function* () {
              if (change.url !== undefined) yield* sql.unsafe(AddressStatement.SET_URL, [id, change.url])
              if (change.sources !== undefined) {
                yield* sql.unsafe(AddressStatement.SET_SOURCES, [
                  id,
                  change.sources === "all",
                  sourcesOf(change.sources),
                ])
              }
              return yield* find(id)
            }),
          ),
        ),
      remove: Effect.fnUntraced(function* (id) {
        const removed = yield* orUnavailable(sql.unsafe(AddressStatement.REMOVE_ADDRESS, [id]))
        if (removed.length === 0) return { existed: false }
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
      resume: changing(AddressStatement.RESUME_ADDRESS),
      rotateSecret: (id) =>
        orUnavailable(Effect.andThen(sql.unsafe(AddressStatement.ROTATE_SECRET, [id, newSecret(cipher)]), find(id))),
    })
  }),
)
