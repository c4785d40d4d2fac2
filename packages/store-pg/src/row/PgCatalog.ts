/**
 * The catalog from PostgreSQL's own: asked anew at every call, so that what DDL changed is seen at once. Only the types
 * that PostgreSQL itself brings, which never change, are remembered.
 */
import { Catalog, type ReadableTable } from "@data-cabinet/core/row/Catalog"
import { isSqlName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { Table } from "@data-cabinet/core/row/Table"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { DESCRIBE_TYPES, FIND_READABLE, FOLD_COLLATION, LIST_READABLE } from "./CatalogStatement.ts"
import { columnType, FIRST_MADE_LATER, type TypeRow } from "./TypeTree.ts"

interface ObjectRow {
  readonly schema: string
  readonly name: string
  readonly kind: Table["kind"]
  readonly source_id: bigint | null
  readonly source_name: string | null
  readonly comment: string | null
  readonly rows_estimate: bigint | null
}

interface DetailRow extends ObjectRow {
  readonly oid: bigint
  readonly snapshot: string
  readonly row_policies: boolean
  readonly definition: string | null
  readonly columns: string | null
  readonly key: string | null
  readonly has_foreign: boolean
  readonly has_heirs: boolean
}

type ColumnRow = readonly [
  name: string,
  shown: string,
  type: number,
  notNull: boolean,
  comment: string | null,
  label: string,
]

const tableOf = (row: ObjectRow): Table => ({
  schema: row.schema,
  name: row.name,
  kind: row.kind,
  source: row.source_id === null ? null : { id: Number(row.source_id), name: row.source_name ?? "" },
  comment: row.comment,
  rows_estimate: row.rows_estimate === null ? null : Number(row.rows_estimate),
})

export const layer = Layer.effect(
  Catalog,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { role } = yield* ReaderClient
    const known = new Map<number, TypeRow>()
    let collation: string | undefined

    const foldCollation = Effect.suspend(() =>
      collation !== undefined
        ? Effect.succeed(collation)
        : Effect.map(sql.unsafe<{ name: string }>(FOLD_COLLATION), ([row]) => {
            collation = quoteQualified("pg_catalog", row?.name ?? "default")
            return collation
          }),
    )

    /** These types and all they are made of; asks the database only for what can have changed. */
    const describe = (oids: ReadonlyArray<number>): Effect.Effect<ReadonlyMap<number, TypeRow>, SqlError.SqlError> => {
      const asked = [...new Set(oids)].filter((oid) => !known.has(oid))
      if (asked.length === 0) return Effect.succeed(known)
      return Effect.map(sql.unsafe<RawType>(DESCRIBE_TYPES, [asked]), (rows) => {
        const types = new Map(known)
        for (const row of rows.map(typeRow)) {
          types.set(row.oid, row)
          if (row.oid < FIRST_MADE_LATER) known.set(row.oid, row)
        }
        return types
      })
    }

    const find = Effect.fnUntraced(function* (schema: string, name: string) {
      if (!isSqlName(schema) || !isSqlName(name)) return Option.none<ReadableTable>()
      const [row] = yield* sql.unsafe<DetailRow>(FIND_READABLE, [role, schema, name])
      if (row === undefined) return Option.none<ReadableTable>()
      const columns: ReadonlyArray<ColumnRow> = JSON.parse(row.columns ?? "[]")
      const types = yield* describe(columns.map(([, , type]) => type))
      return Option.some(readable(row, columns, types, yield* foldCollation))
    })

    return Catalog.of({
      list: orUnavailable(Effect.map(sql.unsafe<ObjectRow>(LIST_READABLE, [role]), (rows) => rows.map(tableOf))),
      find: (schema, name) => orUnavailable(find(schema, name)),
    })
  }),
)

const readable = (
  row: DetailRow,
  columns: ReadonlyArray<ColumnRow>,
  types: ReadonlyMap<number, TypeRow>,
  foldCollation: string,
): ReadableTable => {
  const key: ReadonlyArray<string> = JSON.parse(row.key ?? "[]")
  return {
    detail: {
      ...tableOf(row),
      columns: columns.map(([name, type, , , comment, label]) => ({ name, type, label, comment })),
      key,
      definition: row.definition,
    },
    columns: columns.map(([name, , type, notNull]) => ({ name, notNull, type: columnType(type, types) })),
    // A key says nothing of the rows that a table shows of those which inherit from it.
    identity: row.kind === "view" || row.has_foreign ? "text" : key.length > 0 && !row.has_heirs ? "key" : "place",
    oid: Number(row.oid),
    inert: row.kind !== "view" && !row.row_policies,
    version: JSON.stringify([
      row.columns,
      row.key,
      row.definition,
      row.comment,
      row.kind,
      row.source_name,
      row.row_policies,
      row.has_foreign,
      row.has_heirs,
      String(row.oid),
      madeTypes(columns, types),
    ]),
    snapshot: row.snapshot,
    foldCollation,
  }
}

/** The described types that can change. */
const madeTypes = (columns: ReadonlyArray<ColumnRow>, types: ReadonlyMap<number, TypeRow>): ReadonlyArray<TypeRow> =>
  columns.some(([, , type]) => type >= FIRST_MADE_LATER)
    ? [...types.values()].filter(({ oid }) => oid >= FIRST_MADE_LATER)
    : []

type RawType = Omit<TypeRow, "oid" | "base" | "element" | "fields" | "operators"> & {
  readonly oid: bigint
  readonly base: bigint
  readonly element: bigint | null
  readonly fields: string | null
  readonly operators: string | null
}

const typeRow = (row: RawType): TypeRow => ({
  ...row,
  oid: Number(row.oid),
  base: Number(row.base),
  element: row.element === null ? null : Number(row.element),
  fields: row.fields === null ? null : JSON.parse(row.fields),
  operators: row.operators === null ? null : JSON.parse(row.operators),
})
