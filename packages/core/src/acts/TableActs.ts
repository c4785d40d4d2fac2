/** What the audit log says of changes to tables, their indexes and views, and of who may read them. */
import type { ColumnIndexes } from "../row/ColumnIndexes.ts"
import type { LatestViews } from "../row/LatestViews.ts"
import type { ReportLogin } from "../row/ReportLogin.ts"
import type { SchemaGrants } from "../row/SchemaGrants.ts"
import type { SearchIndex } from "../row/SearchIndex.ts"
import type { SourceColumns } from "../row/SourceColumns.ts"
import type { RebuildWishes } from "../row/RebuildStore.ts"
import type { TableRebuild } from "../row/TableRebuild.ts"
import type { SavedViews } from "../view/SavedViews.ts"
import type { Act } from "../audit/Managed.ts"
import { type Acts, act, making } from "./Acts.ts"

/** An entry for each method of `SourceColumns`. */
export const COLUMNS: Acts<SourceColumns["Service"]> = {
  list: null,
  relabel: (id, column, label) => act("column.relabel", `source ${id} column ${column}`, { label }),
  retype: (id, column, type, { withViews, notation }) =>
    act("column.retype", `source ${id} column ${column}`, { type, with_views: withViews, ...notation }),
  tryRetype: null,
  drop: (id, column) => act("column.drop", `source ${id} column ${column}`),
}

const rebuilding = (id: number, { columns, withoutEmpty, nestBrackets }: RebuildWishes): Act =>
  act("table.rebuild", `source ${id}`, { columns, without_empty: withoutEmpty, nest_brackets: nestBrackets })

/** An entry for each method of `TableRebuild`. */
export const REBUILDS: Acts<TableRebuild["Service"]> = {
  plan: null,
  run: rebuilding,
  start: rebuilding,
  state: null,
  cancel: (id) => act("table.cancel_rebuild", `source ${id}`),
}

/** A view's selection may contain a person's search values, so it is not logged. */
export const VIEWS: Acts<SavedViews["Service"]> = {
  save: ({ title, schema, name, shared }) => making("view.save", "view", { title, schema, name, shared }),
  list: null,
  get: null,
  remove: (id) => act("view.remove", `view ${id}`),
}

/** An entry for each method of `SearchIndex`. */
export const INDEXES: Acts<SearchIndex["Service"]> = {
  list: null,
  build: (schema, name) => act("search_index.build", `table ${schema}.${name}`),
  drop: (schema, name) => act("search_index.drop", `table ${schema}.${name}`),
}

/** An entry for each method of `ColumnIndexes`. */
export const COLUMN_INDEXES: Acts<ColumnIndexes["Service"]> = {
  list: null,
  build: (schema, name, columns) => act("index.build", `table ${schema}.${name}`, { columns }),
  drop: (schema, name, index) => act("index.drop", `table ${schema}.${name}`, { index }),
}

/** An entry for each method of `LatestViews`. */
export const LATEST_VIEWS: Acts<LatestViews["Service"]> = {
  show: null,
  create: ({ schema, name, keys, by, view, replace }) =>
    act("latest_view.create", `table ${schema}.${name}`, { keys, by, view, replace }),
}

/** An entry for each method of `SchemaGrants`. */
export const GRANTS: Acts<SchemaGrants["Service"]> = {
  expose: (schema) => act("schema.expose", `schema ${schema}`),
  hide: (schema) => act("schema.hide", `schema ${schema}`),
  add: (schema) => act("schema.add", `schema ${schema}`),
  list: null,
}

/** Never logs the password. */
export const REPORT_LOGIN: Acts<ReportLogin["Service"]> = {
  get: null,
  issue: () => act("report_login.issue", null),
  revoke: () => act("report_login.revoke", null),
}
