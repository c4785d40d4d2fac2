/** The registry of cabinets in the server's own database, which creates databases next to it. */
import {
  CABINET_NAME,
  CabinetRegistry,
  type RegisteredCabinet,
  RegistryError,
} from "@data-cabinet/core/tenancy/CabinetRegistry"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { revokeFromAll } from "../migrations/CloseDatabase.ts"

const COLUMNS = "name, database_name, database_url, cabinet.rfc3339(created_at) AS created_at"
const LIST = `SELECT ${COLUMNS} FROM cabinet.registered_cabinet ORDER BY name`
const FIND = `SELECT ${COLUMNS} FROM cabinet.registered_cabinet WHERE name = $1`
const ADD = `INSERT INTO cabinet.registered_cabinet (name, database_name, database_url) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`
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

const databaseNameOf = (name: string): string => `cabinet_${name.replaceAll("-", "_")}`

const refuse = (code: RegistryError["code"], message: string) => Effect.fail(new RegistryError({ code, message }))

const noSuch = (name: string) =>
  refuse("no_such_cabinet", `There is no cabinet ${name}. \`cabinet tenant list\` names those that are.`)

/** `url` is the connection URL of the server's own database. */
export const layer = ({ url }: { readonly url: string }) =>
  Layer.effect(
    CabinetRegistry,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const ask = (text: string, ...values: ReadonlyArray<unknown>) => sql.unsafe<ServedRow>(text, [...values])

      const toCabinet = (row: ServedRow): RegisteredCabinet => ({
        name: row.name,
        databaseUrl: row.database_url ?? beside(url, row.database_name!),
        madeDatabase: row.database_name,
        createdAt: row.created_at,
      })

      const makeDatabase = (database: string) =>
        sql.unsafe(`CREATE DATABASE ${quoteName(database)} ENCODING 'UTF8' TEMPLATE template0`).pipe(
          // Before the database contains anything.
          Effect.andThen(sql.unsafe(revokeFromAll(database))),
          Effect.catchTag("SqlError", (error): Effect.Effect<never, RegistryError | SqlError.SqlError> => {
            if (sqlState(error) === "42501") {
              return refuse(
                "database_not_made",
                `The database user may not make databases (${sqlMessage(error)}). Let an administrator run: ALTER ROLE … CREATEDB; or make one and name it with --database-url.`,
              )
            }
            if (sqlState(error) === "42P04") {
              return refuse(
                "database_taken",
                `There is a database ${database} already. If it is this cabinet's, as after \`cabinet tenant remove\`, name it with --database-url.`,
              )
            }
            return Effect.fail(error)
          }),
        )

      const taken = (
        name: string,
        error: SqlError.SqlError,
      ): Effect.Effect<never, RegistryError | SqlError.SqlError> => {
        if (sqlState(error) !== "23505") return Effect.fail(error)
        return /served_pkey/.test(sqlMessage(error))
          ? refuse("name_taken", `There is a cabinet ${name} already.`)
          : refuse("database_taken", "That database is another cabinet's already.")
      }

      return CabinetRegistry.of({
        list: orUnavailable(Effect.map(ask(LIST), (rows) => rows.map(toCabinet))),
        find: (name) =>
          orUnavailable(
            Effect.flatMap(ask(FIND, name), ([row]) =>
              row === undefined ? noSuch(name) : Effect.succeed(toCabinet(row)),
            ),
          ),
        add: (name, databaseUrl) =>
          Effect.gen(function* () {
            if (!CABINET_NAME.test(name)) {
              const rule = "at most 63 small letters, digits and hyphens, none at its ends"
              return yield* refuse("bad_name", `A cabinet's name is part of its host name: ${rule}.`)
            }
            const [known] = yield* ask(FIND, name)
            if (known !== undefined) return yield* refuse("name_taken", `There is a cabinet ${name} already.`)
            const database = databaseUrl === null ? databaseNameOf(name) : null
            if (database !== null) yield* makeDatabase(database)
            const [row] = yield* Effect.catchTag(ask(ADD, name, database, databaseUrl), "SqlError", (error) =>
              taken(name, error),
            )
            return toCabinet(row!)
          }).pipe(orUnavailable),
        remove: (name) =>
          orUnavailable(
            Effect.flatMap(ask(REMOVE, name), ([row]) =>
              row === undefined ? noSuch(name) : Effect.succeed(toCabinet(row)),
            ),
          ),
      })
    }),
  )
