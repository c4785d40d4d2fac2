/** The registry of cabinets in the server's own database, which creates databases next to it. */
import {
  type RegisteredCabinet,
  type RegistryAddition,
  type RegistryMove,
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

interface ServedRow {
  readonly name: string
  readonly database_name: string | null
  readonly database_url: string | null
  readonly created_at: string
}

/** The same server and login with another database. */
const beside = (url: string, database: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${encodeURIComponent(database)}`
  return parsed.toString()
}

/** What a database's refusal says about an addition; other errors are not the caller's. */
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
      const ask = (text: string, ...values: ReadonlyArray<unknown>) => sql.unsafe<ServedRow>(text, [...values])

      const toCabinet = (row: ServedRow): RegisteredCabinet => ({
        name: row.name,
        databaseUrl: row.database_url ?? beside(url, row.database_name!),
        madeDatabase: row.database_name,
        createdAt: row.created_at,
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
