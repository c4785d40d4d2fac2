/** The registry of cabinets in the server's own database, which creates databases next to it. */
import {
  type RegistryEntry,
  type RegisteredCabinet,
  type RegistryAddition,
  type RegistryMove,
  type RegistryPosition,
  RegistryStore,
} from "@data-cabinet/core/tenancy/RegistryStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { revokeFromAll } from "../migrations/CloseDatabase.ts"

const COLUMNS = "name, database_name, database_url, cabinet.rfc3339(created_at) AS created_at"
const LIST = `SELECT ${COLUMNS} FROM cabinet.registered_cabinet ORDER BY name`
const FIND = `SELECT ${COLUMNS} FROM cabinet.registered_cabinet WHERE name = $1`
const ADD = `INSERT INTO cabinet.registered_cabinet (name, database_name, database_url) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`
const MOVE = `UPDATE cabinet.registered_cabinet SET database_name = NULL, database_url = $2 WHERE name = $1 RETURNING ${COLUMNS}`
const REMOVE = `DELETE FROM cabinet.registered_cabinet WHERE name = $1 RETURNING ${COLUMNS}`

/** The most rows in one result: reading them blocks the event loop for a few milliseconds. */
const PAGE = 250

/** $1: the last name of the previous page. */
const PAGE_OF_ALL = `SELECT ${COLUMNS} FROM cabinet.registered_cabinet WHERE name > $1 ORDER BY name LIMIT ${PAGE}`

/** $1: names. */
const ENTRIES = `
SELECT n.name AS asked, r.name, r.database_name, r.database_url, cabinet.rfc3339(r.created_at) AS created_at
FROM unnest($1::text[]) AS n(name) LEFT JOIN cabinet.registered_cabinet r ON r.name = n.name`

const HERE = "pg_postmaster_start_time()::text AS life, pg_current_snapshot()::text AS seen"
const POSITION = `SELECT ${HERE}`

/**
 * Changes that committed after a snapshot, including those that began before it, because a transaction may commit long
 * after a younger one. $1: the snapshot; $2, $3: the last change of the previous page. One row without a name if
 * nothing changed.
 */
const CHANGES = `
SELECT ${HERE}, c.id::text, c.changed::text, c.name AS asked,
       r.name, r.database_name, r.database_url, cabinet.rfc3339(r.created_at) AS created_at
FROM (VALUES (true)) AS always(here)
LEFT JOIN (
  SELECT id, changed, name FROM cabinet.registry_change
  WHERE changed >= pg_snapshot_xmin($1::text::pg_snapshot) AND (changed, id) > ($2::text::xid8, $3::text::int8)
    AND NOT pg_visible_in_snapshot(changed, $1::text::pg_snapshot)
  ORDER BY changed, id LIMIT ${PAGE}
) c ON here
LEFT JOIN cabinet.registered_cabinet r ON r.name = c.name
ORDER BY c.changed, c.id`

const FORGET = "DELETE FROM cabinet.registry_change WHERE at < cabinet.now() - interval '1 day'"

/** A name with its row, or with nulls. */
type EntryRow = { readonly asked: string } & { readonly [Column in keyof ServedRow]: ServedRow[Column] | null }

type ChangeRow = { readonly life: string; readonly seen: string } & {
  readonly [Column in "id" | "changed" | keyof EntryRow]: string | null
}

interface ServedRow {
  readonly name: string
  readonly database_name: string | null
  readonly database_url: string | null
  readonly created_at: string
}

/**
 * The URL of another database on the same server, with the same login. The URL is parsed once, not for each row of a
 * registry.
 */
const beside = (url: string): ((database: string) => string) => {
  const parsed = new URL(url)
  parsed.pathname = "/"
  const [before, after] = [parsed.href.slice(0, parsed.href.length - parsed.search.length), parsed.search]
  return (database) => `${before}${encodeURIComponent(database)}${after}`
}

/** The outcome that a database's refusal of an addition means; the caller does not cause other errors. */
const refusalOf = (error: SqlError.SqlError): RegistryAddition | undefined => {
  switch (sqlState(error)) {
    case "42501":
      return { is: "denied", detail: sqlMessage(error) }
    case "42P04":
      return { is: "database_exists" }
    case "23505":
      return { is: sqlMessage(error).includes("registered_cabinet_pkey") ? "name_taken" : "database_registered" }
    default:
      return undefined
  }
}

/** `url` is the connection URL of the server's own database. */
export const layer = ({ url }: { readonly url: string }) =>
  Layer.effect(
    RegistryStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const urlOf = beside(url)
      const ask = (text: string, ...values: ReadonlyArray<unknown>) => sql.unsafe<ServedRow>(text, [...values])

      const toCabinet = (row: ServedRow): RegisteredCabinet => ({
        name: row.name,
        databaseUrl: row.database_url ?? urlOf(row.database_name!),
        madeDatabase: row.database_name,
        createdAt: row.created_at,
      })

      const toEntry = ({ asked, ...row }: EntryRow): RegistryEntry => ({
        name: asked,
        cabinet: row.name === null ? null : toCabinet(row as ServedRow),
      })

      const createDatabase = (database: string) =>
        // Before the database contains anything.
        Effect.andThen(
          sql.unsafe(`CREATE DATABASE ${quoteName(database)} ENCODING 'UTF8' TEMPLATE template0`),
          sql.unsafe(revokeFromAll(database)),
        )

      const first = (rows: Effect.Effect<ReadonlyArray<ServedRow>, SqlError.SqlError>) =>
        orUnavailable(Effect.map(rows, ([row]) => Option.map(Option.fromNullishOr(row), toCabinet)))

      return RegistryStore.of({
        list: orUnavailable(Effect.map(ask(LIST), (rows) => rows.map(toCabinet))),
        find: (name) => first(ask(FIND, name)),
        position: orUnavailable(Effect.map(sql.unsafe<RegistryPosition>(POSITION), ([row]) => row!)),
        changes: (since, from) => {
          const [changed, id] = from?.split("/") ?? ["0", "0"]
          return orUnavailable(
            Effect.map(sql.unsafe<ChangeRow>(CHANGES, [since.seen, changed, id]), (rows) => {
              const { life, seen } = rows[0]!
              const last = rows.at(-1)!
              return {
                position: { life, seen },
                entries: rows.flatMap((row) => (row.asked === null ? [] : [toEntry({ ...row, asked: row.asked })])),
                next: rows.length < PAGE ? null : `${last.changed}/${last.id}`,
              }
            }),
          )
        },
        page: (after) => orUnavailable(Effect.map(ask(PAGE_OF_ALL, after), (rows) => rows.map(toCabinet))),
        entries: (names) =>
          orUnavailable(Effect.map(sql.unsafe<EntryRow>(ENTRIES, [names]), (rows) => rows.map(toEntry))),
        forget: orUnavailable(Effect.asVoid(ask(FORGET))),
        add: Effect.fnUntraced(
          function* (name, database): Effect.fn.Return<RegistryAddition, SqlError.SqlError> {
            const created = "create" in database ? database.create : null
            if (created !== null) yield* createDatabase(created)
            const [row] = yield* ask(ADD, name, created, "url" in database ? database.url : null)
            return { is: "added", cabinet: toCabinet(row!) }
          },
          Effect.catchTag("SqlError", (error) => {
            const refusal = refusalOf(error)
            return refusal === undefined ? Effect.fail(error) : Effect.succeed(refusal)
          }),
          orUnavailable,
        ),
        move: Effect.fnUntraced(
          function* (name, databaseUrl): Effect.fn.Return<RegistryMove, SqlError.SqlError> {
            const [row] = yield* ask(MOVE, name, databaseUrl)
            return row === undefined ? { is: "missing" } : { is: "moved", cabinet: toCabinet(row) }
          },
          Effect.catchTag("SqlError", (error) =>
            sqlState(error) === "23505" ? Effect.succeed({ is: "database_registered" } as const) : Effect.fail(error),
          ),
          orUnavailable,
        ),
        remove: (name) => first(ask(REMOVE, name)),
      })
    }),
  )
