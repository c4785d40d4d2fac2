/**
 * Reads PostgreSQL's catalogs on every call, so that DDL takes effect at once. A result is reused only if a catalog version
 * proves that it is still valid, at a fraction of the cost of the whole query. PostgreSQL's own types never change, so they
 * are always cached.
 */
import { Catalog, type ReadableColumn, type ReadableTable } from "@data-cabinet/core/row/Catalog"
import { isSqlName } from "@data-cabinet/core/row/SqlName"
import type { Table } from "@data-cabinet/core/row/Table"
import { searchFunction } from "@data-cabinet/core/row/SearchSql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import {
  DESCRIBE_TYPES,
  FIND_READABLE,
  LIST_READABLE,
  LIST_READABLE_OF,
  CATALOG_VERSION_OF_FOUND,
  VIEW_READS_CABINET,
} from "./CatalogStatement.ts"
import { foldCollation } from "./FoldCollation.ts"
import { CatalogCache } from "./CatalogCache.ts"
import { columnType, FIRST_NORMAL_OID, type TypeRow } from "./TypeTree.ts"

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
  readonly owner: bigint
  readonly catalog_version: string
  readonly read_version: string
  readonly partitioned: boolean
  readonly row_policies: boolean
  readonly definition: string | null
  readonly columns: string | null
  readonly key: string | null
  readonly has_foreign: boolean
  readonly has_heirs: boolean
  readonly had_heirs: boolean
  readonly runs_others: boolean
  readonly search_indexed: boolean
}

type ColumnRow = readonly [
  name: string,
  shown: string,
  type: number,
  notNull: boolean,
  comment: string | null,
  label: string,
  modifier: number,
]

const NUMERIC_OID = 1700

/** Unpacks the precision and the scale, a signed number of 11 bits, which PostgreSQL packs into one number. */
const declaredDigits = (type: number, modifier: number): ReadableColumn["declared"] => {
  if (type !== NUMERIC_OID || modifier < 4) return null
  const packed = modifier - 4
  return { precision: packed >> 16, scale: ((packed & 0x7ff) ^ 1024) - 1024 }
}

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
    const { sessions, offReason, role } = yield* ReaderClient
    const known = new Map<number, TypeRow>()
    const folding = foldCollation(sql)

    /** Describes these types and their parts; queries the database only for types that may have changed. */
    const describe = (oids: ReadonlyArray<number>): Effect.Effect<ReadonlyMap<number, TypeRow>, SqlError.SqlError> => {
      const unknown = [...new Set(oids)].filter((oid) => !known.has(oid))
      if (unknown.length === 0) return Effect.succeed(known)
      return Effect.map(sql.unsafe<RawType>(DESCRIBE_TYPES, [unknown, role]), (rows) => {
        const types = new Map(known)
        for (const row of rows.map(typeRow)) {
          types.set(row.oid, row)
          if (row.oid < FIRST_NORMAL_OID) known.set(row.oid, row)
        }
        return types
      })
    }

    const found = new CatalogCache()

    const find = Effect.fnUntraced(function* (schema: string, name: string) {
      if (!isSqlName(schema) || !isSqlName(name)) return Option.none<ReadableTable>()
      const before = found.get(schema, name)
      if (before !== undefined) {
        const [now] = yield* sql.unsafe<{ catalog_version: string }>(CATALOG_VERSION_OF_FOUND, [
          role,
          BigInt(before.table.oid),
        ])
        if (now?.catalog_version === before.catalogVersion) return Option.some(before.table)
        found.forget(schema, name)
      }
      const collation = yield* folding
      const searching = `${searchFunction(collation).sql}(text[])`
      const [row] = yield* sql.unsafe<DetailRow>(FIND_READABLE, [role, schema, name, searching])
      if (row === undefined) return Option.none<ReadableTable>()
      if (row.definition !== null) {
        const [view] = yield* sql.unsafe<{ ours: boolean }>(VIEW_READS_CABINET, [row.oid])
        if (view?.ours !== false) return Option.none<ReadableTable>()
      }
      const columns: ReadonlyArray<ColumnRow> = JSON.parse(row.columns ?? "[]")
      const types = yield* describe(columns.map(([, , type]) => type))
      const table = readable(row, columns, types, collation)
      if (hasCatalogVersion(row, columns)) found.keep({ table, catalogVersion: row.catalog_version })
      return Option.some(table)
    })

    /** Reports that reading is off, rather than that an object is missing, if the reader's role was never created. */
    const unlessNoRole = Effect.fnUntraced(function* <A>(result: A, foundNothing: boolean) {
      if (!foundNothing || Option.isSome(sessions)) return result
      const roles = yield* sql`SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = ${role}`
      return roles.length === 0 ? yield* unavailable(offReason) : result
    })

    const findOrOff = (schema: string, name: string) =>
      orUnavailable(Effect.flatMap(find(schema, name), (table) => unlessNoRole(table, Option.isNone(table))))

    return Catalog.of({
      list: sql.unsafe<ObjectRow>(LIST_READABLE, [role]).pipe(
        Effect.flatMap((rows) => unlessNoRole(rows.map(tableOf), rows.length === 0)),
        orUnavailable,
      ),
      listOf: (oids) =>
        sql.unsafe<ObjectRow>(LIST_READABLE_OF, [role, int8Array(oids)]).pipe(
          Effect.flatMap((rows) => unlessNoRole(rows.map(tableOf), rows.length === 0)),
          orUnavailable,
        ),
      find: findOrOff,
      cached: (schema, name) => {
        const before = found.get(schema, name)?.table
        return before === undefined || before.catalogVersion === null ? undefined : before
      },
    })
  }),
)

const readable = (
  row: DetailRow,
  columns: ReadonlyArray<ColumnRow>,
  types: ReadonlyMap<number, TypeRow>,
  collation: string,
): ReadableTable => {
  const key: ReadonlyArray<string> = JSON.parse(row.key ?? "[]")
  return {
    detail: {
      ...tableOf(row),
      columns: columns.map(([name, type, , , comment, label]) => ({ name, type, label, comment })),
      key,
      definition: row.definition,
    },
    columns: columns.map(([name, , type, notNull, , , modifier]) => ({
      name,
      notNull,
      declared: declaredDigits(type, modifier),
      type: columnType(type, types),
    })),
    // A key does not cover the rows of child tables, which the table also shows.
    identity:
      row.kind === "view" || row.has_foreign
        ? "text"
        : key.length > 0 && (row.partitioned || !row.has_heirs)
          ? "key"
          : "place",
    oid: Number(row.oid),
    owner: Number(row.owner),
    runsNoUserCode: isAlone(row) && !row.row_policies && !row.runs_others,
    foldCollation: collation,
    searchIndexed: row.search_indexed,
    catalogVersion: row.source_id === null && isAlone(row) ? row.read_version : null,
  }
}

/** Whether the table shows only its own rows. Otherwise a read may start to run user code without a detectable change. */
const isAlone = (row: DetailRow): boolean =>
  row.kind !== "view" && !row.had_heirs && !row.has_foreign && !row.partitioned

/** Whether the catalog version covers the object: not views, child tables, partitions, or types that can change. */
const hasCatalogVersion = (row: DetailRow, columns: ReadonlyArray<ColumnRow>): boolean =>
  row.definition === null && isAlone(row) && columns.every(([, , type]) => type < FIRST_NORMAL_OID)

type RawType = Omit<TypeRow, "oid" | "base" | "element" | "subtype" | "fields" | "operators"> & {
  readonly oid: bigint
  readonly base: bigint
  readonly element: bigint | null
  readonly subtype: bigint | null
  readonly fields: string | null
  readonly operators: string | null
}

const typeRow = (row: RawType): TypeRow => ({
  ...row,
  oid: Number(row.oid),
  base: Number(row.base),
  element: row.element === null ? null : Number(row.element),
  subtype: row.subtype === null ? null : Number(row.subtype),
  fields: row.fields === null ? null : JSON.parse(row.fields),
  operators: row.operators === null ? null : JSON.parse(row.operators),
})
