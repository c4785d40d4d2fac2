/**
 * Puts the new table into the old one's place, in one transaction that waits only briefly for the table's lock, because
 * other sessions queue behind it. The caller tries again later.
 *
 * What the old table has besides its rows is created on the new one: privileges, comments, options. Its indexes exist
 * already and get their names here. Views are recreated by their owners.
 */
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import type { FieldColumn } from "@data-cabinet/core/row/FieldColumn"
import { NotRebuilt } from "@data-cabinet/core/row/RebuildStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { boolArray, textArray } from "../connection/Parameter.ts"
import { isConflict, isUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { dependentViews, dropViews, recreateViews } from "./DependentViews.ts"
import * as Statement from "./RebuildStatement.ts"
import { execute, literal } from "./RestrictedRun.ts"
import { SOURCES_SCHEMA } from "./SourceTable.ts"

type Sql = PgClient.PgClient

/** How long the swap waits for a lock: a request that arrives meanwhile waits as long. */
export const SWAP_LOCK_MILLIS = 50

/** How long all views may take. */
const VIEWS_MILLIS = 5_000

interface Grant {
  readonly grantee: string | null
  readonly privilege: string
  readonly grantable: boolean
  readonly column: string | null
}

interface Description {
  readonly oid: string
  readonly comment: string | null
  readonly options: string | null
  readonly key: string
  readonly comments: ReadonlyArray<{ readonly column: string; readonly comment: string }> | null
  readonly grants: ReadonlyArray<Grant> | null
}

/** A column of the new table, and the old one that it continues. */
export type SwappedColumn = FieldColumn & { readonly was?: string | null }

export interface Swapped {
  readonly sourceId: number
  readonly table: string
  readonly columns: ReadonlyArray<SwappedColumn>
  /** The indexes of the new table: present name and future name. */
  readonly indexes: ReadonlyMap<string, string>
}

const roleOf = (name: string | null): string => (name === null ? "PUBLIC" : quoteName(name))

/** The statements that make the new table's privileges and comments those of the old one. */
const describing = (
  relation: string,
  { comment, options, comments, grants }: Description,
  given: ReadonlyArray<string | null>,
  newNames: ReadonlyMap<string, string>,
): ReadonlyArray<string> => {
  const statements = given.map((role) => `REVOKE ALL ON ${relation} FROM ${roleOf(role)}`)
  for (const { grantee, privilege, grantable, column } of grants ?? []) {
    const name = column === null ? undefined : newNames.get(column)
    if (column !== null && name === undefined) continue
    const part = name === undefined ? "" : ` (${quoteName(name)})`
    statements.push(
      `GRANT ${privilege}${part} ON ${relation} TO ${roleOf(grantee)}${grantable ? " WITH GRANT OPTION" : ""}`,
    )
  }
  if (options !== null && options !== "") statements.push(`ALTER TABLE ${relation} SET (${options})`)
  if (comment !== null) statements.push(`COMMENT ON TABLE ${relation} IS ${literal(comment)}`)
  for (const { column, comment: text } of comments ?? []) {
    const name = newNames.get(column)
    if (name !== undefined) statements.push(`COMMENT ON COLUMN ${relation}.${quoteName(name)} IS ${literal(text)}`)
  }
  return statements
}

/** Runs statements in one round trip, because the table is locked meanwhile. */
const inOneTrip = (sql: Sql, statements: ReadonlyArray<string>) =>
  sql.unsafe(`DO ${literal(`BEGIN ${statements.map(execute).join(" ")} END`)}`)

const newNamesOf = (columns: ReadonlyArray<SwappedColumn>): ReadonlyMap<string, string> =>
  new Map([
    ["_event_id", "_event_id"],
    ["_received_at", "_received_at"],
    [MORE_COLUMN, MORE_COLUMN],
    ...columns.flatMap(({ was, name }) => (was === undefined || was === null ? [] : [[was, name] as const])),
  ])

/** The failure of a view, unless the database is busy or away. */
const viewFailed = (error: SqlError.SqlError) =>
  isConflict(error) || (isUnavailable(error) && sqlState(error) !== "57014")
    ? error
    : new NotRebuilt({ fact: { is: "view_failed", detail: sqlMessage(error) } })

/** Locks the source and the old table against everybody. */
export const lockOld = Effect.fnUntraced(function* (
  sql: Sql,
  sourceId: number,
  table: string,
): Effect.fn.Return<void, SqlError.SqlError> {
  yield* sql.unsafe(`SET LOCAL lock_timeout = ${SWAP_LOCK_MILLIS}`)
  yield* sql`SELECT 1 FROM cabinet.source WHERE id = ${sourceId} FOR UPDATE`
  yield* sql.unsafe(`LOCK TABLE ${Statement.oldTable(table)} IN ACCESS EXCLUSIVE MODE`)
})

/** Replaces the locked old table, whose changes are all in the new one. */
export const replaceOld = Effect.fnUntraced(function* (
  sql: Sql,
  { sourceId, table, columns, indexes }: Swapped,
): Effect.fn.Return<void, NotRebuilt | SqlError.SqlError> {
  const old = Statement.oldTable(table)
  const made = Statement.newTable(sourceId)
  const moved = Statement.newTableOf(sourceId)
  const [description] = yield* sql.unsafe<Description>(Statement.DESCRIPTION, [old])
  const given = yield* sql.unsafe<{ role: string | null }>(Statement.GIVEN, [made])
  const roles = given.map(({ role }) => role)
  const views = yield* dependentViews(sql, old, 0)
  yield* sql.unsafe(Statement.MOVE_TOKENS, [description!.oid, made])
  yield* Effect.mapError(dropViews(sql, views, SWAP_LOCK_MILLIS), viewFailed)
  const replacing = inOneTrip(sql, [
    ...describing(made, description!, roles, newNamesOf(columns)),
    `DROP TABLE ${old}`,
    `ALTER TABLE ${made} SET SCHEMA ${SOURCES_SCHEMA}`,
    `ALTER TABLE ${quoteQualified(SOURCES_SCHEMA, moved)} RENAME TO ${quoteName(table)}`,
    `ALTER TABLE ${old} RENAME CONSTRAINT ${quoteName(`${moved}_pkey`)} TO ${quoteName(description!.key)}`,
    ...[...indexes].map(
      ([present, future]) => `ALTER INDEX ${quoteQualified(SOURCES_SCHEMA, present)} RENAME TO ${quoteName(future)}`,
    ),
  ])
  yield* Effect.mapError(replacing, (error) =>
    sqlState(error) === "2BP01" ? new NotRebuilt({ fact: { is: "depended_on", detail: sqlMessage(error) } }) : error,
  )
  if (views.length > 0) {
    yield* sql.unsafe(`SET LOCAL statement_timeout = ${VIEWS_MILLIS}`)
    yield* Effect.mapError(recreateViews(sql, views), viewFailed)
  }
  yield* sql.unsafe(Statement.RECORD_COLUMNS, [
    sourceId,
    textArray(columns.map(({ field }) => field)),
    textArray(columns.map(({ name }) => name)),
    textArray(columns.map(({ kind }) => kind)),
    boolArray(columns.map(({ typePinned }) => typePinned === true)),
    textArray(columns.map(({ was, name }) => was ?? name)),
  ])
  // Invalidates submissions planned for the old table.
  yield* sql`UPDATE cabinet.source SET version = version + 1 WHERE id = ${sourceId}`
})
