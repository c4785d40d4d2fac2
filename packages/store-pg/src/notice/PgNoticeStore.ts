/** Notices in PostgreSQL. The statement that accepts a notice's event records its cause (`AcceptStatement`). */
import { certificateIn } from "@data-cabinet/core/delivery/ClientCertificate"
import type { NoticeKey } from "@data-cabinet/core/notice/Notice"
import type * as Fact from "@data-cabinet/core/notice/NoticeFacts"
import { type NoticeSource, NoticeStore, type SentNotice } from "@data-cabinet/core/notice/NoticeStore"
import type { StoredSource } from "@data-cabinet/core/source/SourceStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { int8Array, textArray } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type SecretCipher, SecretCiphers } from "../key/SecretCipher.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"
import { createSource } from "../source/PgSourceStore.ts"
import * as Facts from "./NoticeFactsStatement.ts"
import * as Statement from "./NoticeStatement.ts"
import { fenceHolders } from "../feed/FenceWatch.ts"

type Sql = PgClient.PgClient

const toSource = ({ tableName, ...row }: Statement.SourceRow): NoticeSource => ({
  ...row,
  table: tableName === null ? null : { schema: SOURCES_SCHEMA, name: tableName },
})

const found = (sql: Sql) =>
  Effect.map(sql.unsafe<Statement.SourceRow>(Statement.SOURCE), ([row]) => (row === undefined ? null : toSource(row)))

const keyParameters = (keys: ReadonlyArray<NoticeKey>): ReadonlyArray<unknown> => [
  textArray(keys.map(({ kind }) => kind)),
  int8Array(keys.map(({ subject }) => subject)),
  textArray(keys.map(({ instance }) => instance)),
]

const switchOn = Effect.fnUntraced(function* (sql: Sql, cipher: SecretCipher, source: StoredSource) {
  yield* sql.unsafe(Statement.HOLD)
  const existing = yield* found(sql)
  if (existing?.on === true) return existing
  if (existing !== null) yield* sql.unsafe(Statement.ARCHIVE, [existing.id, false])
  yield* sql.unsafe(Statement.BEGIN_AT, [existing?.id ?? (yield* createSource(sql, cipher, source)).id])
  return (yield* found(sql))!
})

const switchOff = Effect.fnUntraced(function* (sql: Sql) {
  yield* sql.unsafe(Statement.HOLD)
  const existing = yield* found(sql)
  if (existing === null || !existing.on) return existing
  yield* sql.unsafe(Statement.ARCHIVE, [existing.id, true])
  return yield* found(sql)
})

const certificates = Effect.fnUntraced(function* (sql: Sql, sourceId: number) {
  const ending = yield* sql.unsafe<Facts.CertificateRow>(Facts.CERTIFICATES)
  if (ending.length === 0) return []
  const addresses = yield* sql.unsafe<Fact.AddressFact>(Facts.SECURE_ADDRESSES, [sourceId])
  return addresses.flatMap((address): ReadonlyArray<Fact.CertificateFact> => {
    const seen = ending.find(({ origin }) => origin === new URL(address.url).origin)
    return seen === undefined ? [] : [{ ...address, endsAt: seen.endsAt, seconds: seen.seconds }]
  })
})

const clientCertificates = Effect.fnUntraced(function* (sql: Sql, sourceId: number) {
  const ending = yield* sql.unsafe<Facts.ClientCertificateRow>(Facts.CLIENT_CERTIFICATES, [sourceId])
  return ending.flatMap(({ pem, ...fact }): ReadonlyArray<Fact.ClientCertificateFact> => {
    const certificate = certificateIn(pem)
    return certificate === null ? [] : [{ ...fact, certificate }]
  })
})

/** Recorded causes are read first, so that the facts compared with them are not older. */
const facts = Effect.fnUntraced(function* (sql: Sql, { id, since }: Pick<NoticeSource, "id" | "since">) {
  const open = yield* sql.unsafe<NoticeKey>(Facts.OPEN)
  const later = [id, since]
  return {
    open,
    failing: yield* sql.unsafe<Fact.FailingAddress>(Facts.FAILING, [id]),
    recovered: yield* sql.unsafe<Fact.RecoveredAddress>(Facts.RECOVERED, [id]),
    paused: yield* sql.unsafe<Fact.PausedAddress>(Facts.PAUSED, later),
    waiting: yield* sql.unsafe<Fact.WaitingAddress>(Facts.WAITING, [id]),
    certificates: yield* certificates(sql, id),
    clientCertificates: yield* clientCertificates(sql, id),
    holders: yield* Effect.provideService(fenceHolders, PgClient.PgClient, sql),
    polls: yield* sql.unsafe<Fact.FailingPoll>(Facts.POLLS, [id]),
    imports: yield* sql.unsafe<Fact.FailedImport>(Facts.IMPORTS, later),
    columns: yield* sql.unsafe<Fact.CreatedColumn>(Facts.COLUMNS, later),
  } satisfies Fact.StoredFacts
})

export const layer = Layer.effect(
  NoticeStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const cipher = yield* SecretCiphers
    return NoticeStore.of({
      source: orUnavailable(found(sql)),
      switchOn: (source) => orUnavailable(sql.withTransaction(switchOn(sql, cipher, source))),
      switchOff: orUnavailable(sql.withTransaction(switchOff(sql))),
      latest: (sourceId, limit) => orUnavailable(sql.unsafe<SentNotice>(Statement.LATEST, [sourceId, limit])),
      claimRound: orUnavailable(Effect.map(sql.unsafe(Statement.CLAIM_ROUND), ({ length }) => length > 0)),
      facts: (source) => orUnavailable(facts(sql, source)),
      unsent: (keys) =>
        keys.length === 0
          ? Effect.succeed([])
          : orUnavailable(
              Effect.map(sql.unsafe<{ readonly unsent: boolean }>(Statement.UNSENT, keyParameters(keys)), (rows) =>
                rows.map(({ unsent }) => unsent),
              ),
            ),
      end: (keys) => orUnavailable(Effect.asVoid(sql.unsafe(Statement.END, keyParameters(keys)))),
    })
  }),
)
