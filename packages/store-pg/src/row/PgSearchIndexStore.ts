/**
 * Search indexes by pg_trgm. An index is built on a session without time limits, does not block writers, and is used once it
 * is complete. An unfinished one is dropped. An index that lacks a newer column is not used, and the next build replaces it.
 *
 * Decision: docs/decisions/0028-pg-trgm-outside-the-authors-schemas.md
 */
import {
  type IndexTarget,
  NotIndexed,
  SearchIndexStore,
  type TableIndex,
} from "@data-cabinet/core/row/SearchIndexStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { isUnavailable, orUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import { AS_IT_TAKES, outsideTransactions, patiently, SHORTLY } from "./PatientSession.ts"
import {
  buildIndex,
  dropIndex,
  FOREIGN_OWNER,
  FREE_INDEX_NAME,
  TRIGRAMS_KNOW_LETTERS,
  MAKE_SCHEMA,
  MAKE_TRIGRAMS,
  makeFunctions,
  SEARCH_INDEXES,
  TABLE_TO_INDEX,
  TRIGRAM_SCHEMA,
} from "./SearchIndexStatement.ts"

const because = (is: "no_trigrams" | "failed", error: SqlError.SqlError) =>
  new NotIndexed({ fact: { is, detail: sqlMessage(error) } })

export const layer = Layer.effect(
  SearchIndexStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient

    /** Creates our schema, which stays even after a refusal, because pg_trgm may have to be moved into it. */
    const ownSchema = Effect.gen(function* () {
      for (const statement of MAKE_SCHEMA) yield* sql.unsafe(statement)
      const [foreign] = yield* sql.unsafe<{ owner: string }>(FOREIGN_OWNER)
      if (foreign !== undefined) return yield* new NotIndexed({ fact: { is: "foreign_schema", owner: foreign.owner } })
    })

    const trigramsNow = Effect.gen(function* () {
      const [found] = yield* sql.unsafe<{ schema: string; owner: string | null; open_to: string | null }>(
        TRIGRAM_SCHEMA,
      )
      if (found !== undefined && found.owner !== null) {
        return yield* new NotIndexed({ fact: { is: "authors_trigrams", owner: found.owner } })
      }
      if (found !== undefined && found.open_to !== null) {
        return yield* new NotIndexed({ fact: { is: "open_trigrams", schema: found.schema, role: found.open_to } })
      }
      return found?.schema
    })

    /** Returns the schema of pg_trgm, quoted, after creating everything that an index needs. */
    const prepare = Effect.fnUntraced(function* (foldCollation: string) {
      if ((yield* trigramsNow) === undefined) {
        yield* sql
          .unsafe(MAKE_TRIGRAMS)
          .pipe(Effect.mapError((error) => (isUnavailable(error) ? error : because("no_trigrams", error))))
      }
      const trigrams = quoteName((yield* trigramsNow) ?? "")
      const [letters] = yield* sql.unsafe<{ known: boolean }>(TRIGRAMS_KNOW_LETTERS(trigrams))
      for (const statement of makeFunctions(foldCollation, letters?.known === true)) yield* sql.unsafe(statement)
      return trigrams
    })

    const alone = outsideTransactions(sql)

    const dropAll = (schema: string, names: ReadonlyArray<string>, limits = AS_IT_TAKES) =>
      alone(
        names.map((name) => dropIndex(quoteQualified(schema, name))),
        limits,
      )

    return SearchIndexStore.of({
      target: (oid) =>
        sql.unsafe<IndexTarget>(TABLE_TO_INDEX, [BigInt(oid)]).pipe(
          Effect.map(([row]) => Option.fromNullishOr(row)),
          orUnavailable,
        ),
      list: (oid) => orUnavailable(sql.unsafe<TableIndex>(SEARCH_INDEXES, [BigInt(oid)])),
      build: Effect.fnUntraced(function* ({ oid, schema, table, text, foldCollation, replaced }) {
        yield* sql.withTransaction(ownSchema)
        const trigrams = yield* sql.withTransaction(prepare(foldCollation))
        const [free] = yield* sql.unsafe<{ name: string }>(FREE_INDEX_NAME, [BigInt(oid)])
        const index = free!.name
        const object = quoteQualified(schema, table)
        yield* alone([buildIndex(quoteName(index), object, text, trigrams)]).pipe(
          Effect.onError(() => Effect.ignore(dropAll(schema, [index], SHORTLY))),
          Effect.mapError((error) => (isUnavailable(error) ? error : because("failed", error))),
        )
        yield* alone([`ANALYZE ${object}`])
        yield* dropAll(schema, replaced)
        return index
      }, patiently),
      drop: (schema, names) => patiently(dropAll(schema, names)),
    })
  }),
)
