/**
 * Search indexes by pg_trgm. An index is built without blocking writers, on a session without time limits, and is used
 * once it is complete; one left unfinished by a build is dropped. An index that lacks a newer column is not used, and the
 * next build replaces it.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Catalog, type ReadableTable } from "@data-cabinet/core/row/Catalog"
import { SearchIndex, SearchIndexError } from "@data-cabinet/core/row/SearchIndex"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { rowText } from "@data-cabinet/core/selection/SearchSql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { isUnavailable, connectionLossAsError, orUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import {
  buildIndex,
  dropIndex,
  FOREIGN_OWNER,
  FREE_INDEX_NAME,
  KNOWS_LETTERS,
  MAKE_SCHEMA,
  MAKE_TRIGRAMS,
  makeFunctions,
  SEARCH_INDEXES,
  TABLE_TO_INDEX,
  TRIGRAM_SCHEMA,
} from "./SearchIndexStatement.ts"

interface Target {
  readonly kind: string
  readonly heirs: boolean
  readonly owner: string
  readonly mine: boolean
}

const refuse = (code: SearchIndexError["code"], message: string) => new SearchIndexError({ code, message })

const nameOf = ({ detail }: ReadableTable) => `${detail.schema}.${detail.name}`

const notMine = (table: ReadableTable, owner: string) =>
  refuse("no_right", `${nameOf(table)} belongs to ${owner}, and only its owner may give it an index.`)

const noTrigrams = (error: SqlError.SqlError) =>
  refuse(
    "no_trigrams",
    `The database cannot have the extension pg_trgm (${sqlMessage(error)}). Install PostgreSQL's contrib modules, or let an administrator run: CREATE EXTENSION pg_trgm SCHEMA cabinet_search;`,
  )

const openTrigrams = (schema: string, role: string) =>
  refuse(
    "no_trigrams",
    `The extension pg_trgm is in the schema ${schema}, where ${role} may make functions of its own, which would run with the cabinet's rights. Let an administrator run: ALTER EXTENSION pg_trgm SET SCHEMA cabinet_search; (or move it into another schema in which only administrators create).`,
  )

const buildFailed = (table: ReadableTable, error: SqlError.SqlError) =>
  refuse("build_failed", `The search index of ${nameOf(table)} could not be made: ${sqlMessage(error)}.`)

/** Without a time limit: a large table takes as long as it takes. */
const patiently = <A, R>(work: Effect.Effect<A, SearchIndexError | StoreUnavailable | SqlError.SqlError, R>) =>
  connectionLossAsError(work).pipe(Effect.catchTag("SqlError", (error) => orUnavailable(Effect.fail(error))))

const AS_IT_TAKES = ["SET statement_timeout = 0", "SET lock_timeout = 0"]
/** A cancelled build does not wait for other sessions: the next build removes whatever is left. */
const SHORTLY = ["SET statement_timeout = 5000"]
const AS_BEFORE = ["RESET statement_timeout", "RESET lock_timeout"]

export const layer = Layer.effect(
  SearchIndex,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const catalog = yield* Catalog

    const find = Effect.fnUntraced(function* (schema: string, name: string) {
      const found = yield* catalog.find(schema, name)
      if (Option.isSome(found)) return found.value
      return yield* refuse("no_such_table", `There is no readable table or view ${schema}.${name}.`)
    })

    const target = Effect.fnUntraced(function* (table: ReadableTable) {
      const [row] = yield* sql.unsafe<Target>(TABLE_TO_INDEX, [BigInt(table.oid)])
      if (row === undefined) return yield* refuse("no_such_table", `${nameOf(table)} was dropped just now.`)
      if (!row.mine) return yield* notMine(table, row.owner)
      return row
    })

    /** A schema of ours, which is kept whatever happens next: pg_trgm may have to be moved into it. */
    const ownSchema = Effect.gen(function* () {
      for (const statement of MAKE_SCHEMA) yield* sql.unsafe(statement)
      const [foreign] = yield* sql.unsafe<{ owner: string }>(FOREIGN_OWNER)
      if (foreign !== undefined) {
        const message = `The schema cabinet_search belongs to ${foreign.owner}: it is ours to make. Drop it, and ask again.`
        return yield* refuse("no_right", message)
      }
    })

    const trigramsNow = Effect.gen(function* () {
      const [found] = yield* sql.unsafe<{ schema: string; open_to: string | null }>(TRIGRAM_SCHEMA)
      if (found !== undefined && found.open_to !== null) return yield* openTrigrams(found.schema, found.open_to)
      return found?.schema
    })

    /** Returns the schema of pg_trgm, quoted, after creating everything that an index needs. */
    const prepare = Effect.fnUntraced(function* (foldCollation: string) {
      if ((yield* trigramsNow) === undefined) {
        yield* sql
          .unsafe(MAKE_TRIGRAMS)
          .pipe(Effect.mapError((error) => (isUnavailable(error) ? error : noTrigrams(error))))
      }
      const trigrams = quoteName((yield* trigramsNow) ?? "")
      const [letters] = yield* sql.unsafe<{ known: boolean }>(KNOWS_LETTERS(trigrams))
      for (const statement of makeFunctions(foldCollation, letters?.known === true)) yield* sql.unsafe(statement)
      return trigrams
    })

    const indexesOf = (table: ReadableTable) =>
      sql.unsafe<{ name: string; valid: boolean }>(SEARCH_INDEXES, [BigInt(table.oid)])

    /** Runs statements that cannot run in a transaction, on a session of their own. */
    const alone = (statements: ReadonlyArray<string>, limits = AS_IT_TAKES) =>
      Effect.scoped(
        Effect.flatMap(sql.reserve, (session) => {
          const say = (statement: string) => session.executeUnprepared(statement, [], undefined)
          return Effect.ensuring(
            Effect.forEach([...limits, ...statements], say, { discard: true }),
            Effect.ignore(Effect.forEach(AS_BEFORE, say, { discard: true })),
          )
        }),
      )

    const dropAll = (table: ReadableTable, names: ReadonlyArray<string>, limits = AS_IT_TAKES) =>
      alone(
        names.map((name) => dropIndex(quoteQualified(table.detail.schema, name))),
        limits,
      )

    const build = Effect.fnUntraced(function* (schema: string, name: string) {
      const table = yield* find(schema, name)
      const { kind, heirs } = yield* target(table)
      if ((kind !== "r" && kind !== "m") || heirs) {
        const message = `${nameOf(table)} cannot have a search index: only a table or materialized view of its own rows can, not a view, a foreign table, or one that is made of others.`
        return yield* refuse("not_indexable", message)
      }
      const { sql: text, unfit } = rowText(table.columns, table.foldCollation, (column) => quoteName(column.name))
      if (unfit.length > 0 || table.columns.length === 0) {
        const which = unfit.map((column) => `${column.name} (${column.type.name})`).join(", ")
        const message = `${nameOf(table)} cannot have a search index: the text of these columns can change while a row stays as it is: ${which}.`
        return yield* refuse("not_indexable", message)
      }
      const before = yield* indexesOf(table)
      const standing = before.find((index) => index.valid)
      if (table.searchIndexed && standing !== undefined) return { index: standing.name, built: false }
      yield* sql.withTransaction(ownSchema)
      const trigrams = yield* sql.withTransaction(prepare(table.foldCollation))
      const [free] = yield* sql.unsafe<{ name: string }>(FREE_INDEX_NAME, [BigInt(table.oid)])
      const index = free!.name
      const object = quoteQualified(table.detail.schema, table.detail.name)
      yield* alone([buildIndex(quoteName(index), object, text, trigrams)]).pipe(
        Effect.onError(() => Effect.ignore(dropAll(table, [index], SHORTLY))),
        Effect.mapError((error) => (isUnavailable(error) ? error : buildFailed(table, error))),
      )
      yield* alone([`ANALYZE ${object}`])
      yield* dropAll(
        table,
        before.map((old) => old.name),
      )
      return { index, built: true }
    })

    return SearchIndex.of({
      build: (schema, name) => patiently(build(schema, name)),
      drop: (schema, name) =>
        patiently(
          Effect.gen(function* () {
            const table = yield* find(schema, name)
            yield* target(table)
            const indexes = yield* indexesOf(table)
            yield* dropAll(
              table,
              indexes.map((index) => index.name),
            )
            return indexes.length
          }),
        ),
    })
  }),
)
