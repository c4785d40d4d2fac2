/**
 * An index that makes `q` fast on a large table. The results of `q` are the same with and without it. Refuses anything
 * but a table or materialized view with rows of its own, tables of other owners, and columns whose text can change
 * without a change of the row.
 */
import * as Shape from "../json/Shape.ts"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { rowText } from "./SearchSql.ts"
import { Catalog, type ReadableTable } from "./Catalog.ts"
import { indexFigures } from "./ColumnIndexStore.ts"
import { type NotIndexed, SearchIndexStore, type TableIndex } from "./SearchIndexStore.ts"
import { quoteName } from "./SqlName.ts"

/**
 * `no_such_table`: no readable object has this name. `not_indexable`: a view, a foreign or partitioned table, one with
 * child tables, or one with columns whose text no index can hold. `no_right`: the table has another owner.
 * `no_trigrams`: the database does not have pg_trgm and cannot install it. `build_failed`: PostgreSQL failed; the
 * message is its own.
 */
export class SearchIndexError extends Schema.TaggedError<SearchIndexError>()("SearchIndexError", {
  code: Schema.Literals(["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"]),
  message: Schema.String,
}) {}

/** The search index of a table. */
export interface SearchIndexState {
  /** The index's name; it is in the table's schema. */
  readonly index: string
  /** False if an existing index already covered all columns. */
  readonly built: boolean
}

/** The JSON of a built index, with the table's name, and its description. */
export const searchIndexStateShape = Shape.named(
  "SearchIndexState",
  Shape.object<SearchIndexState & { readonly table: string }>("A table's search index.", {
    table: Shape.text("The table."),
    index: Shape.text("The index."),
    built: Shape.flag("False if there was one already."),
  }),
)

/** The current state of a search index. */
export interface FoundSearchIndex extends TableIndex {
  /** Whether it is up to date: it covers all columns, as this version builds it. */
  readonly complete: boolean
}

/** Its JSON and its description. */
export const searchIndexShape = Shape.named(
  "SearchIndex",
  Shape.object<FoundSearchIndex>("A search index.", {
    name: Shape.text("Its name."),
    valid: indexFigures.valid,
    complete: Shape.flag(
      "Whether it is up to date: one that lacks a newer column, or was built by an earlier version, is not used until it is rebuilt.",
    ),
    bytes: indexFigures.bytes,
    scans: indexFigures.scans,
    progress: indexFigures.progress,
  }),
)

type Returns<A> = Effect.Effect<A, SearchIndexError | StoreUnavailable>

export class SearchIndex extends Context.Service<
  SearchIndex,
  {
    /** One index or none; two while one replaces the other. */
    readonly list: (schema: string, name: string) => Returns<ReadonlyArray<FoundSearchIndex>>
    /**
     * Creates the index, or rebuilds it if columns were added since. Rows can be written and read meanwhile, but a new
     * field of a source waits, with its rows, until the build is complete. There is no time limit. Removes the remains
     * of an interrupted build.
     */
    readonly build: (schema: string, name: string) => Returns<SearchIndexState>
    /** Returns how many indexes were dropped. */
    readonly drop: (schema: string, name: string) => Returns<number>
  }
>()("@data-cabinet/core/row/SearchIndex") {
  static readonly layer = Layer.effect(
    SearchIndex,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const store = yield* SearchIndexStore

      const find = Effect.fnUntraced(function* (schema: string, name: string) {
        const found = yield* catalog.find(schema, name)
        return Option.isSome(found)
          ? found.value
          : yield* refuse("no_such_table", `No readable table or view is named ${schema}.${name}.`)
      })

      /** A readable table that we may index, with the facts that decide about it. */
      const ours = Effect.fnUntraced(function* (schema: string, name: string) {
        const table = yield* find(schema, name)
        const target = yield* store.target(table.oid)
        if (Option.isNone(target))
          return yield* refuse("no_such_table", `${nameOf(table)} was dropped in the meantime.`)
        if (target.value.mine) return { table, target: target.value }
        const message = `${nameOf(table)} belongs to ${target.value.owner}, and only its owner may create an index on it.`
        return yield* refuse("no_right", message)
      })

      return SearchIndex.of({
        list: Effect.fnUntraced(function* (schema, name) {
          const { oid, searchIndexed } = yield* find(schema, name)
          const all = yield* store.list(oid)
          // The newest one covers the current columns.
          const newest = all.findLast(({ valid }) => valid)
          return all.map((one) => ({ ...one, complete: searchIndexed && one === newest }))
        }),
        build: Effect.fnUntraced(function* (schema, name) {
          const { table, target } = yield* ours(schema, name)
          if ((target.kind !== "r" && target.kind !== "m") || target.heirs) {
            const message = `${nameOf(table)} cannot have a search index: only a table with rows of its own or a materialized view can, not a view, a foreign or partitioned table, or a parent of other tables.`
            return yield* refuse("not_indexable", message)
          }
          const { columns, foldCollation, oid } = table
          const { sql, unfit } = rowText(columns, foldCollation, (column) => quoteName(column.name))
          if (unfit.length > 0 || columns.length === 0) {
            const which = unfit.map((column) => `${column.name} (${column.type.name})`).join(", ")
            const message = `${nameOf(table)} cannot have a search index: the text of these columns can change while a row stays as it is: ${which}.`
            return yield* refuse("not_indexable", message)
          }
          const before = yield* store.list(oid)
          const standing = before.find((index) => index.valid)
          if (table.searchIndexed && standing !== undefined) return { index: standing.name, built: false }
          const index = yield* store
            .build({ oid, schema, table: name, text: sql, foldCollation, replaced: before.map((old) => old.name) })
            .pipe(Effect.catchTag("NotIndexed", (error) => notIndexed(table, error)))
          return { index, built: true }
        }),
        drop: Effect.fnUntraced(function* (schema, name) {
          const { table } = yield* ours(schema, name)
          const indexes = yield* store.list(table.oid)
          yield* store.drop(
            schema,
            indexes.map((index) => index.name),
          )
          return indexes.length
        }),
      })
    }),
  )
}

const nameOf = ({ detail }: ReadableTable) => `${detail.schema}.${detail.name}`

const refuse = (code: SearchIndexError["code"], message: string) => Effect.fail(new SearchIndexError({ code, message }))

const notIndexed = (table: ReadableTable, { fact }: NotIndexed) => {
  switch (fact.is) {
    case "no_trigrams":
      return refuse(
        "no_trigrams",
        `The extension pg_trgm cannot be created (${fact.detail}). Install PostgreSQL's contrib modules, or let an administrator run: CREATE EXTENSION pg_trgm SCHEMA cabinet_search;`,
      )
    case "open_trigrams":
      return refuse(
        "no_trigrams",
        `The extension pg_trgm is in the schema ${fact.schema}, where ${fact.role} may create functions, which would run with the cabinet's rights. Let an administrator run: ALTER EXTENSION pg_trgm SET SCHEMA cabinet_search; (or move it into another schema where only administrators may create objects).`,
      )
    case "authors_trigrams":
      return refuse(
        "no_trigrams",
        `The extension pg_trgm belongs to ${fact.owner}, who could drop it with every index that uses it. An extension's owner cannot be changed: look at what uses it, then let the database's owner run: DROP EXTENSION pg_trgm CASCADE; CREATE EXTENSION pg_trgm SCHEMA cabinet_search;`,
      )
    case "foreign_schema":
      return refuse(
        "no_right",
        `The schema cabinet_search exists already and belongs to ${fact.owner}, but the service has to create it itself. Drop it, and try again.`,
      )
    case "failed":
      return refuse("build_failed", `The search index of ${nameOf(table)} could not be created: ${fact.detail}.`)
  }
}
