/**
 * Indexes that make filters and sorts fast on a large table. The result is the same with and without them.
 *
 * No value that a sender sends may be refused because of an index. A btree holds no entry of more than 2,704 bytes, so
 * only types whose values are short have one; columns of text and jsonb get a hash index, which serves `eq` alone.
 *
 * A btree continues with the primary key, by which a page orders its rows after the requested columns, so that a page
 * begins where the previous one ended. Refuses anything but a table or materialized view with rows of its own, tables
 * of other owners, and types whose comparison runs a customer's code.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { Catalog, type ReadableTable } from "./Catalog.ts"
import { type ColumnIndex, ColumnIndexStore, indexedMembers, type IndexMethod } from "./ColumnIndexStore.ts"
import { isLong, isShort, MAX_INDEX_COLUMNS } from "./IndexableColumn.ts"
import { SearchIndexStore } from "./SearchIndexStore.ts"

/**
 * `no_such_table`: no readable object has this name. `no_such_column`: the object has no such column. `no_such_index`:
 * the table has no such index of the cabinet's. `not_indexable`: a view, a foreign or partitioned table, or columns
 * that no index of this kind can have. `no_right`: the table has another owner. `build_failed`: PostgreSQL failed; the
 * message is its own.
 */
export class ColumnIndexError extends Schema.TaggedError<ColumnIndexError>()("ColumnIndexError", {
  code: Schema.Literals([
    "no_such_table",
    "no_such_column",
    "no_such_index",
    "not_indexable",
    "no_right",
    "build_failed",
  ]),
  message: Schema.String,
}) {}

/** The index that serves the columns. */
export interface ColumnIndexState {
  /** The index's name; it is in the table's schema. */
  readonly index: string
  readonly columns: ReadonlyArray<string>
  readonly method: IndexMethod
  /** False if an existing index served them already. */
  readonly built: boolean
}

/** The JSON of a built index, with the table's name, and its description. */
export const columnIndexStateShape = Shape.named(
  "ColumnIndexState",
  Shape.object<ColumnIndexState & { readonly table: string }>("The index that serves the columns.", {
    table: Shape.text("The table."),
    index: Shape.text("The index."),
    ...indexedMembers,
    built: Shape.flag("False if an index served the columns already."),
  }),
)

type Returns<A> = Effect.Effect<A, ColumnIndexError | StoreUnavailable>

export class ColumnIndexes extends Context.Service<
  ColumnIndexes,
  {
    /** The indexes created here, including those being built or interrupted. */
    readonly list: (schema: string, name: string) => Returns<ReadonlyArray<ColumnIndex>>
    /**
     * Creates an index, unless one serves the columns already. Rows can be written and read meanwhile, but a new field
     * of a source waits, with its rows, until the build is complete. There is no time limit. Replaces the remains of an
     * interrupted build.
     */
    readonly build: (schema: string, name: string, columns: ReadonlyArray<string>) => Returns<ColumnIndexState>
    readonly drop: (schema: string, name: string, index: string) => Returns<ColumnIndex>
  }
>()("@data-cabinet/core/row/ColumnIndexes") {
  static readonly layer = Layer.effect(
    ColumnIndexes,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const store = yield* ColumnIndexStore
      const targets = yield* SearchIndexStore

      const find = Effect.fnUntraced(function* (schema: string, name: string) {
        const found = yield* catalog.find(schema, name)
        return Option.isSome(found)
          ? found.value
          : yield* refuse("no_such_table", `No readable table or view is named ${schema}.${name}.`)
      })

      /** A table that the cabinet may index, or whose index it may drop. */
      const ours = Effect.fnUntraced(function* (schema: string, name: string) {
        const table = yield* find(schema, name)
        const target = yield* targets.target(table.oid)
        if (Option.isNone(target)) {
          return yield* refuse("no_such_table", `The table ${nameOf(table)} was dropped in the meantime.`)
        }
        if (target.value.mine) return { table, target: target.value }
        const message = `The table ${nameOf(table)} belongs to ${target.value.owner}, and only its owner may create an index on it.`
        return yield* refuse("no_right", message)
      })

      return ColumnIndexes.of({
        list: Effect.fnUntraced(function* (schema, name) {
          return yield* store.list((yield* find(schema, name)).oid)
        }),
        build: Effect.fnUntraced(function* (schema, name, requested) {
          const { table, target } = yield* ours(schema, name)
          if ((target.kind !== "r" && target.kind !== "m") || target.heirs) {
            const message = `${nameOf(table)} cannot have an index. Only a table with rows of its own and a materialized view can; a view, a foreign or partitioned table, and a parent of other tables cannot.`
            return yield* refuse("not_indexable", message)
          }
          const { columns, method } = yield* plannedIndex(table, requested)
          const standing = yield* store.serving(table.oid, columns, method)
          if (standing !== null) return { index: standing, columns, method, built: false }
          const left = (yield* store.list(table.oid)).filter(
            (one) => !one.valid && one.progress === null && one.method === method && sameNames(one.columns, columns),
          )
          const replaced = left.map((one) => one.name)
          const index = yield* Effect.catchTag(
            store.build({ oid: table.oid, schema, table: name, columns, method, replaced }),
            "IndexFailed",
            ({ detail }) => refuse("build_failed", `The index of ${nameOf(table)} could not be created: ${detail}.`),
          )
          // The type may have changed before the build began.
          const now = yield* plannedIndex(yield* find(schema, name), requested)
          if (now.method !== method || !sameNames(now.columns, columns)) {
            yield* store.drop(schema, [index])
            return yield* refuse(
              "build_failed",
              `The table ${nameOf(table)} was changed while its index was built. Try again.`,
            )
          }
          return { index, columns, method, built: true }
        }),
        drop: Effect.fnUntraced(function* (schema, name, index) {
          const { table } = yield* ours(schema, name)
          const all = yield* store.list(table.oid)
          const found = all.find((one) => one.name === index)
          if (found === undefined) {
            const known = all.length === 0 ? "It has none" : `It has ${all.map((one) => one.name).join(", ")}`
            return yield* refuse("no_such_index", `No index ${index} of ${nameOf(table)} was created here. ${known}.`)
          }
          yield* store.drop(schema, [index])
          return found
        }),
      })
    }),
  )
}

const plannedIndex = Effect.fnUntraced(function* (
  table: ReadableTable,
  requested: ReadonlyArray<string>,
): Effect.fn.Return<{ readonly columns: ReadonlyArray<string>; readonly method: IndexMethod }, ColumnIndexError> {
  const named = new Map(table.columns.map((column) => [column.name, column]))
  const missing = requested.find((name) => !named.has(name))
  if (missing !== undefined) {
    return yield* refuse(
      "no_such_column",
      `No column ${JSON.stringify(missing)} in ${nameOf(table)}. Its columns are ${[...named.keys()].join(", ")}.`,
    )
  }
  if (requested.length === 0 || requested.length > MAX_INDEX_COLUMNS || new Set(requested).size < requested.length) {
    return yield* refuse("not_indexable", `An index has one to ${MAX_INDEX_COLUMNS} columns, each of them once.`)
  }
  const columns = requested.map((name) => named.get(name)!)
  const unfit = columns.find((column) => !isShort(column) && !isLong(column))
  if (unfit !== undefined) {
    return yield* refuse(
      "not_indexable",
      `The column ${unfit.name} of ${nameOf(table)} cannot be indexed: its type ${unfit.type.name} has no order, or its comparisons are not PostgreSQL's own.`,
    )
  }
  if (columns.every(isShort)) {
    const rest = table.detail.key.filter((name) => !requested.includes(name) && isShort(named.get(name)!))
    const isWhole = table.detail.key.every((name) => requested.includes(name) || rest.includes(name))
    return { columns: isWhole ? [...requested, ...rest] : requested, method: "btree" }
  }
  if (columns.length === 1) return { columns: requested, method: "hash" }
  const text = columns.find(isLong)!
  return yield* refuse(
    "not_indexable",
    `The column ${text.name} of type ${text.type.name} can only be indexed alone: its values may be longer than a common index can hold.`,
  )
})

const sameNames = (a: ReadonlyArray<string>, b: ReadonlyArray<string>) => a.join("\0") === b.join("\0")

const nameOf = ({ detail }: ReadableTable) => `${detail.schema}.${detail.name}`

const refuse = (code: ColumnIndexError["code"], message: string) => Effect.fail(new ColumnIndexError({ code, message }))
