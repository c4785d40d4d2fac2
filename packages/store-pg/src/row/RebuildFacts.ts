/** Finds out what a source's table consists of: what a new table would have, and what it could not have. */
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import type { RebuildFacts, TableIndexFacts } from "@data-cabinet/core/row/RebuildStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import type { ViewObstacle } from "@data-cabinet/core/row/SourceColumnStore"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { columnDependents } from "./ColumnDependents.ts"
import { dependentViews, findObstacle, type SavedView } from "./DependentViews.ts"
import * as Statement from "./RebuildStatement.ts"
import { holdSourceTable, type SourceTable } from "./SourceTable.ts"

type Sql = PgClient.PgClient

const NOTHING: RebuildFacts = {
  table: undefined,
  foreignOwner: null,
  rows: 0,
  withoutEvent: 0,
  empty: new Set(),
  described: new Set(),
  views: [],
  indexes: [],
  savedViews: [],
  obstacles: [],
}

/** An index as it is read. */
export interface FoundIndex extends TableIndexFacts {
  readonly isUnique: boolean
  readonly definition: string
  readonly head: string
}

const viewObstacle = (obstacle: ViewObstacle): string => {
  switch (obstacle.is) {
    case "recursive":
      return `view ${obstacle.view} is recursive, or reads a recursive view`
    case "rule":
      return `${obstacle.view} is not a view, but has a rule that reads the table`
    case "trusted":
      return `view ${obstacle.view} belongs to the cabinet's own database user, and uses an object that other roles can change: ${obstacle.part}`
  }
}

/** Filling one would keep the table locked. */
const materialized = (views: ReadonlyArray<SavedView>) =>
  views
    .filter(({ kind }) => kind === "m")
    .map(
      ({ schema, name }) => `${schema}.${name} is a materialized view, which would be filled while the table is locked`,
    )

interface TableKind {
  readonly kind: string
  readonly persistence: string
  readonly policies: boolean
  readonly identity: string
  readonly heirs: boolean
  readonly owner: string | null
}

const kindObstacles = ({ kind, persistence, policies, identity, heirs }: TableKind): ReadonlyArray<string> => [
  ...(kind === "r" && persistence === "p" ? [] : ["it is not an ordinary table"]),
  ...(heirs ? ["it inherits from another table, or another one from it"] : []),
  ...(policies ? ["it has row-level security"] : []),
  ...(identity === "d" ? [] : ["its replica identity was changed"]),
]

const countRows = Effect.fnUntraced(function* (
  sql: Sql,
  relation: string,
  names: ReadonlyArray<string>,
): Effect.fn.Return<Pick<RebuildFacts, "rows" | "withoutEvent" | "empty">, SqlError.SqlError> {
  const filled = names.map((name) => `count(t.${quoteName(name)}) > 0`).join(", ")
  const [row] = yield* sql.unsafe<{ rows: number; orphans: number; filled: ReadonlyArray<boolean> }>(`
    SELECT count(*)::float8 AS rows, (count(*) FILTER (WHERE CASE WHEN e.id IS NULL
        THEN NOT EXISTS (SELECT FROM cabinet.cold_file c WHERE c.name IS NOT NULL AND t._event_id BETWEEN c.least_id AND c.most_id)
        ELSE e.purged_at IS NOT NULL END))::float8 AS orphans,
      ARRAY[${filled}]::bool[] AS filled
    FROM ${relation} t LEFT JOIN cabinet.event e ON e.id = t._event_id`)
  const empty = new Set(names.filter((_, index) => row!.filled[index] !== true))
  return { rows: row!.rows, withoutEvent: row!.orphans, empty }
})

const namesOf = (rows: ReadonlyArray<{ readonly name: string }>) => rows.map(({ name }) => name)

const strangeWords = ({ name, added, type }: { name: string; added: boolean; type: string }) =>
  added ? `column ${name} was added by hand` : `column ${name} was changed by hand (${type})`

const read = Effect.fnUntraced(function* (
  sql: Sql,
  table: SourceTable,
): Effect.fn.Return<RebuildFacts, SqlError.SqlError> {
  const { sourceId, layout } = table
  const relation = Statement.oldTable(table.name!)
  const [kind] = yield* sql.unsafe<TableKind>(Statement.TABLE_KIND, [relation])
  const views = yield* dependentViews(sql, relation, 0)
  const obstacle = yield* findObstacle(sql, views)
  const readers = yield* sql.unsafe<{ name: string; columns: ReadonlyArray<string> }>(Statement.VIEW_COLUMNS, [
    relation,
  ])
  const foreign = yield* sql.unsafe<{ name: string; owner: string }>(Statement.FOREIGN_VIEWS, [
    int8Array(views.map(({ oid }) => oid)),
  ])
  const writers = namesOf(yield* sql.unsafe<{ name: string }>(Statement.WRITERS, [relation]))
  const columnsOf = new Map(readers.map(({ name, columns }) => [name, columns]))
  const objects = yield* sql.unsafe<{ object: string }>(Statement.OBJECTS, [relation])
  const typed = yield* columnDependents(sql, relation, 0, int8Array(views.map(({ oid }) => oid)))
  const strange = yield* sql.unsafe<{ name: string; added: boolean; type: string }>(Statement.STRANGE_COLUMNS, [
    relation,
    sourceId,
  ])
  const indexes = yield* sql.unsafe<FoundIndex>(Statement.INDEXES, [relation])
  const there = new Set(
    namesOf(
      yield* sql.unsafe<{ name: string }>(
        "SELECT attname::text AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
        [relation],
      ),
    ),
  )
  const own = [...namesOf(layout.columns), ...(layout.hasMore ? [MORE_COLUMN] : [])]
  const lacking = own.filter((name) => !there.has(name))
  return {
    table,
    foreignOwner: kind!.owner,
    described: new Set(namesOf(yield* sql.unsafe<{ name: string }>(Statement.DESCRIBED_COLUMNS, [relation, sourceId]))),
    views: views.map(({ schema, name }) => {
      return { name: `${schema}.${name}`, columns: columnsOf.get(`${schema}.${name}`) ?? [] }
    }),
    indexes: indexes.map(({ name, columns, made }) => ({ name, columns, made })),
    savedViews: yield* sql.unsafe<{ title: string; query: string }>(Statement.SAVED_VIEWS, [table.name]),
    obstacles: [
      ...kindObstacles(kind!),
      ...strange.map(strangeWords),
      ...lacking.map((name) => `column ${name} was dropped or renamed by hand`),
      ...indexes.filter((one) => !one.definition.startsWith(one.head)).map(({ name }) => `index ${name}`),
      ...new Set([...objects.map(({ object }) => object), ...typed]),
      ...(obstacle === null ? [] : [viewObstacle(obstacle)]),
      ...writers.map((name) => `${name} may write to the table, and such changes could not be followed`),
      ...materialized(views),
      ...foreign.map(({ name, owner }) => `view ${name} belongs to ${owner}, for whom the cabinet cannot recreate it`),
    ],
    ...(yield* countRows(
      sql,
      relation,
      own.filter((name) => there.has(name)),
    )),
  }
})

/** Reads everything in one transaction, which takes as long as a scan of the table. */
export const rebuildFacts = (sql: Sql, sourceId: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`SET LOCAL statement_timeout = 0`
      yield* sql`SET LOCAL lock_timeout = 2000`
      const table = yield* holdSourceTable(sql, sourceId)
      if (table === undefined) return NOTHING
      return table.name === null ? { ...NOTHING, table } : yield* read(sql, table)
    }),
  )
