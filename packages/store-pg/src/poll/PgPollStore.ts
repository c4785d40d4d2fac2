/** Polls in PostgreSQL. */
import { randomUUID } from "node:crypto"
import { type PollRun, pollRunShape, pollShape } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS, type PollSettings } from "@data-cabinet/core/poll/PollSettings"
import { type ClaimedPoll, PollStore, type RunResult, type StoredPoll } from "@data-cabinet/core/poll/PollStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Result } from "effect"
import { byteaArray, storableMillis } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { SEAL } from "../file/ImportStatement.ts"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { decryptHeaders, encryptHeaders, type StoredHeader } from "../key/StoredHeaders.ts"
import * as PollStatement from "./PollStatement.ts"

interface ClaimedRow {
  readonly id: number
  readonly source_id: number
  readonly url: string
  readonly headers: string
  readonly etag: string | null
  readonly last_modified: string | null
  readonly failures: number
  readonly first: boolean
}

const DELETE_BATCH = 10_000

type Sql = PgClient.PgClient

const change = (sql: Sql, statement: string, values: ReadonlyArray<unknown>) =>
  orUnavailable(
    Effect.map(sql.unsafe(statement, values), ([row]) => Option.map(Option.fromNullishOr(row), pollShape.ofRow)),
  )

/** In batches, so that no statement takes long. */
const deleteSeen = Effect.fnUntraced(function* (sql: Sql, id: number) {
  for (let count = DELETE_BATCH; count === DELETE_BATCH;) {
    count = (yield* orUnavailable(sql.unsafe(PollStatement.DELETE_SEEN, [id, DELETE_BATCH]))).length
  }
})

const settle = (sql: Sql, poll: ClaimedPoll, result: RunResult) =>
  Effect.gen(function* () {
    const { fresh } = result
    const doubts = result.doubts.length === 0 ? null : JSON.stringify(result.doubts)
    const ended = yield* sql.unsafe(PollStatement.END_RUN, [
      poll.id,
      poll.lease,
      result.outcome === "failed",
      result.etag,
      result.lastModified,
      result.nextSeconds,
    ])
    if (ended.length === 0) return Option.none<PollRun>()
    if (fresh !== null) {
      yield* sql.unsafe(PollStatement.MARK_SEEN, [poll.id, fresh.held.id])
      const sealed = yield* sql.unsafe(SEAL, [fresh.held.id, fresh.held.lease, fresh.rows, 0, doubts])
      if (sealed.length === 0) return yield* Effect.fail(staleImport)
    }
    const [run] = yield* sql.unsafe(PollStatement.WRITE_RUN, [
      poll.id,
      storableMillis(result.durationMs),
      result.outcome,
      result.status,
      result.failure?.slice(0, 1000) ?? null,
      result.peer,
      result.bytes,
      result.items,
      fresh?.rows ?? 0,
      fresh?.held.id ?? null,
      doubts,
    ])
    return Option.some(pollRunShape.ofRow(run!))
  })

const encrypted = (cipher: SecretCipher, headers: StoredPoll["headers"]): string =>
  JSON.stringify(encryptHeaders(cipher, "poll header", headers))

const settingValues = (settings: PollSettings) => POLL_SETTINGS.all.map(({ key }) => settings[key])

const decrypted = (headers: string, cipher: SecretCipher): ClaimedPoll["headers"] =>
  Result.getOrElse(
    decryptHeaders(cipher, "poll header", JSON.parse(headers) as ReadonlyArray<StoredHeader>),
    () => null,
  )

const toClaimed = (row: ClaimedRow, lease: string, cipher: SecretCipher): ClaimedPoll => ({
  id: row.id,
  lease,
  sourceId: row.source_id,
  url: row.url,
  ...POLL_SETTINGS.ofRow(row),
  headers: decrypted(row.headers, cipher),
  etag: row.etag,
  lastModified: row.last_modified,
  failures: row.failures,
  first: row.first,
})

export const layer = Layer.effect(
  PollStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers

    return PollStore.of({
      add: (poll) =>
        change(sql, PollStatement.ADD, [
          poll.sourceId,
          poll.url,
          encrypted(cipher, poll.headers),
          ...settingValues(poll),
        ]),
      list: ({ after, limit }) =>
        orUnavailable(Effect.map(sql.unsafe(PollStatement.LIST, [after, limit]), (rows) => rows.map(pollShape.ofRow))),
      change: (id, url, { headers, ...settings }) =>
        change(sql, PollStatement.CHANGE, [
          id,
          url,
          settings.url,
          headers === null ? null : encrypted(cipher, headers),
          settings.first,
          ...settingValues(settings),
        ]),
      headers: Effect.fnUntraced(function* (id, url) {
        const [row] = yield* sql.unsafe<Pick<ClaimedRow, "headers">>(PollStatement.HEADERS, [id, url])
        return row === undefined ? Option.none() : Option.some(decrypted(row.headers, cipher))
      }, orUnavailable),
      pause: (id) => change(sql, PollStatement.PAUSE, [id]),
      resume: (id) => change(sql, PollStatement.RESUME, [id]),
      remove: Effect.fnUntraced(function* (id) {
        const removed = yield* orUnavailable(sql.unsafe(PollStatement.REMOVE, [id]))
        if (removed.length > 0) yield* deleteSeen(sql, id)
        return { existed: removed.length > 0 }
      }),
      log: Effect.fnUntraced(function* (id, limit) {
        const runs = yield* sql.unsafe(PollStatement.LOG, [id, limit])
        const exists = runs.length > 0 || (yield* sql.unsafe(PollStatement.EXISTS, [id])).length > 0
        return exists ? Option.some(runs.map(pollRunShape.ofRow)) : Option.none()
      }, orUnavailable),
      claim: Effect.fnUntraced(function* (id) {
        const lease = randomUUID()
        const [row] = yield* sql.unsafe<ClaimedRow>(PollStatement.CLAIM, [lease, id])
        if (row === undefined) return Option.none()
        return Option.some(toClaimed(row, lease, cipher))
      }, orUnavailable),
      renew: (poll) =>
        orUnavailable(Effect.map(sql.unsafe(PollStatement.RENEW, [poll.id, poll.lease]), (rows) => rows.length > 0)),
      unseen: (pollId, keys) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<{ readonly unseen: boolean }>(PollStatement.FIND_UNSEEN, [pollId, byteaArray(keys)]),
            (rows) => rows.map((row) => row.unseen),
          ),
        ),
      settle: (poll, result) =>
        orUnavailable(sql.withTransaction(settle(sql, poll, result))).pipe(
          // Rolled back: the import was abandoned, so the run does not count either.
          Effect.catch((error) => (error === staleImport ? Effect.succeedNone : Effect.fail(error))),
        ),
      nextDue: orUnavailable(
        Effect.map(
          sql.unsafe<{ readonly millis: number | null }>(PollStatement.NEXT_DUE),
          ([row]) => row?.millis ?? null,
        ),
      ),
    })
  }),
)

const staleImport = "the import was abandoned" as const
