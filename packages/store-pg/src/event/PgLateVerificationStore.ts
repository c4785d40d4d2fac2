/**
 * Late verification in PostgreSQL. The events of a request are locked first: a second caller finds what the first has
 * done.
 */
import type { KeptRequest } from "@data-cabinet/core/verification/LateCheck"
import { type LateEvent, LateVerificationStore } from "@data-cabinet/core/event/LateVerificationStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { ColdActs } from "../cold/ColdActs.ts"
import { int8Array, textArray } from "../connection/Parameter.ts"
import { deliverStored, type UndeliveredEvent } from "../delivery/DeliverStored.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { missingEvent, originalSlice } from "./KeptOriginals.ts"
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

export interface LateVerificationOptions {
  /** For how many days original requests are kept. */
  readonly originalDays: number
}

export const layer = ({ originalDays }: LateVerificationOptions) =>
  Layer.effect(
    LateVerificationStore,
    Effect.map(Effect.all([PgClient.PgClient, ColdActs]), ([sql, cold]) =>
      LateVerificationStore.of({
        missing: (events) => Effect.andThen(orUnavailable(cold.need(events)), missingEvent(sql, events)),
        find: (events) =>
          sql.unsafe<LateStatement.LateRow>(LateStatement.FIND, [int8Array(events), originalDays]).pipe(
            Effect.map((rows) => rows.map(toLateEvent)),
            orUnavailable,
          ),
        slice: ({ undelivered, ...query }) => originalSlice(sql, LateStatement.SLICE, query, originalDays, undelivered),
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
        deliver: (sourceId, requests) => {
          const ids = int8Array(requests)
          return sql
            .withTransaction(
              Effect.gen(function* () {
                yield* sql.unsafe(LateStatement.LOCK_EVENTS, [ids])
                const events = yield* sql.unsafe<UndeliveredEvent>(LateStatement.UNDELIVERED_EVENTS, [ids])
                const made = yield* deliverStored(sql, sourceId, events)
                yield* sql.unsafe(LateStatement.SET_DELIVERED, [ids])
                return made
              }),
            )
            .pipe(orUnavailable)
        },
      }),
    ),
  )
