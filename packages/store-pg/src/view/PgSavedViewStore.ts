/** Saved views in PostgreSQL. */
import type { SavedView, ViewMaker } from "@data-cabinet/core/view/SavedView"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { SavedViewStore } from "@data-cabinet/core/view/SavedViews"

interface Row {
  readonly id: number
  readonly title: string
  readonly schema_name: string
  readonly table_name: string
  readonly query: string
  readonly shared: boolean
  readonly maker_kind: ViewMaker["kind"]
  readonly maker_id: number | null
  readonly maker_name: string
  readonly created_at: string
}

const COLUMNS = `v.id::float8 AS id, v.title, v.schema_name, v.table_name, v.query, v.shared, v.maker_kind,
  v.maker_id::float8 AS maker_id, v.maker_name, cabinet.rfc3339(v.created_at) AS created_at`

/** $9: how many views its creator may have before it. */
const ADD = `
  INSERT INTO cabinet.saved_view AS v (title, schema_name, table_name, query, shared, maker_kind, maker_id, maker_name)
  SELECT $1, $2, $3, $4, $5, $6, $7::int8, $8
  WHERE (SELECT count(*) FROM cabinet.saved_view o WHERE o.maker_kind = $6 AND o.maker_id IS NOT DISTINCT FROM $7::int8) < $9::int4
  RETURNING ${COLUMNS}`

const LIST = `SELECT ${COLUMNS} FROM cabinet.saved_view v ORDER BY lower(v.title), v.id`

const FIND = `SELECT ${COLUMNS} FROM cabinet.saved_view v WHERE v.id = $1`

const REMOVE = `DELETE FROM cabinet.saved_view WHERE id = $1`

const toView = (row: Row): SavedView => ({
  id: row.id,
  title: row.title,
  schema: row.schema_name,
  name: row.table_name,
  query: row.query,
  shared: row.shared,
  maker: { kind: row.maker_kind, id: row.maker_id, name: row.maker_name },
  createdAt: row.created_at,
})

export const layer = Layer.effect(
  SavedViewStore,
  Effect.map(PgClient.PgClient, (sql) => {
    const one = (statement: string, values: ReadonlyArray<unknown>) =>
      orUnavailable(
        Effect.map(sql.unsafe<Row>(statement, values), ([row]) => Option.map(Option.fromNullishOr(row), toView)),
      )
    return SavedViewStore.of({
      add: ({ title, schema, name, query, shared, maker }, most) =>
        one(ADD, [title, schema, name, query, shared, maker.kind, maker.id, maker.name, most]),
      list: orUnavailable(Effect.map(sql.unsafe<Row>(LIST), (rows) => rows.map(toView))),
      find: (id) => one(FIND, [id]),
      remove: (id) => orUnavailable(Effect.asVoid(sql.unsafe(REMOVE, [id]))),
    })
  }),
)
