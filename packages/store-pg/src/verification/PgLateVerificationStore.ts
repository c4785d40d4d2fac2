/** Late verification in PostgreSQL. The events of a request are locked first: whoever comes second finds what the first has done. */
import { filteredDeliveries } from "@data-cabinet/core/delivery/FilteredDeliveries"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import type { KeptRequest } from "@data-cabinet/core/verification/LateCheck"
import { type LateEvent, LateVerificationStore } from "@data-cabinet/core/verification/LateVerificationStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Result } from "effect"
import { int8Array, textArray } from "../connection/ArrayParameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as LateStatement from "./LateStatement.ts"

const requestOf = (row: LateStatement.LateRow): KeptRequest | null =>
  row.request_id === null || row.body === null
    ? null
    : {
        id: Number(row.request_id),
        body: row.body,
        bodyBytes: row.body_bytes,
        contentType: row.content_type,
        charsetFrom: row.charset_from,
        headers: row.headers ?? {},
        query: row.query,
        receivedAt: row.received_at,
      }

const toLateEvent = (row: LateStatement.LateRow): LateEvent => ({
  id: Number(row.id),
  sourceId: Number(row.source_id),
  verified: row.verified,
  requestId: row.request_id === null ? null : Number(row.request_id),
  request: requestOf(row),
  undelivered: row.undelivered === true,
})

/** Written by us, so it parses. */
const payloadOf = (text: string): JsonObject => Result.getOrThrow(parseJson(text, { maxDepth: 10_000 })) as JsonObject

export interface LateVerificationOptions {
  /** For how many days original requests are kept. */
  readonly originalDays: number
}

export const layer = ({ originalDays }: LateVerificationOptions) =>
  Layer.effect(
    LateVerificationStore,
    Effect.map(PgClient.PgClient, (sql) =>
      LateVerificationStore.of({
        missing: (events) =>
          sql.unsafe<{ readonly id: string }>(LateStatement.MISSING, [int8Array(events)]).pipe(
            Effect.map(([row]) => (row === undefined ? null : Number(row.id))),
            orUnavailable,
          ),
        find: (events) =>
          sql.unsafe<LateStatement.LateRow>(LateStatement.FIND, [int8Array(events), originalDays]).pipe(
            Effect.map((rows) => rows.map(toLateEvent)),
            orUnavailable,
          ),
        slice: Effect.fnUntraced(function* ({ sourceId, after, limit, undelivered }) {
          const place = after ?? [null, null, null]
          const values = [sourceId, originalDays, limit, undelivered, ...place]
          const rows = yield* sql.unsafe<LateStatement.SliceRow>(LateStatement.SLICE, values)
          return {
            events: rows.filter(({ wanted }) => wanted).map((row) => Number(row.place[2])),
            seen: rows.length,
            next: rows.length < limit ? null : rows.at(-1)!.place,
          }
        }, orUnavailable),
        record: (findings) => {
          const ids = int8Array(findings.map(({ requestId }) => requestId))
          const recipes = textArray(findings.map(({ recipe }) => recipe))
          const refusals = textArray(findings.map(({ refusal }) => refusal))
          return sql
            .withTransaction(
              Effect.andThen(
                sql.unsafe(LateStatement.LOCK_EVENTS, [ids]),
                sql.unsafe(LateStatement.RECORD, [ids, recipes, refusals]),
              ),
            )
            .pipe(Effect.asVoid, orUnavailable)
        },
        deliver: ({ sourceId, version, requests, filtered }) => {
          const ids = int8Array(requests)
          return sql
            .withTransaction(
              Effect.gen(function* () {
                yield* sql.unsafe(LateStatement.LOCK_EVENTS, [ids])
                const held = yield* sql.unsafe(LateStatement.HOLD_SOURCE, [sourceId, version])
                if (held.length === 0) return Option.none()
                const events = yield* sql.unsafe<LateStatement.DueRow>(LateStatement.UNDELIVERED_EVENTS, [ids])
                const payloads =
                  filtered === undefined ? [] : events.map(({ payload }) => ({ payload: payloadOf(payload) }))
                const { passed = [] } = filteredDeliveries(filtered, payloads).filtered ?? {}
                const pairs = passed.flatMap((addresses, at) =>
                  addresses.map((address) => [events[at]!.id, address] as const),
                )
                const made = yield* sql.unsafe(LateStatement.DELIVER, [
                  int8Array(events.map(({ id }) => BigInt(id))),
                  int8Array(pairs.map(([event]) => BigInt(event))),
                  int8Array(pairs.map(([, address]) => address)),
                ])
                yield* sql.unsafe(LateStatement.SET_DELIVERED, [ids])
                return Option.some(made.length)
              }),
            )
            .pipe(orUnavailable)
        },
      }),
    ),
  )
