/** Grants to the reader's role, schema by schema. */
import { SchemaGrants, SchemaGrantError } from "@data-cabinet/core/row/SchemaGrants"
import { isSqlName, quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"

const exposing = (schema: string, reader: string) => [
  `GRANT USAGE ON SCHEMA ${schema} TO ${reader}`,
  `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader}`,
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${reader}`,
]

const hiding = (schema: string, reader: string) => [
  `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} REVOKE SELECT ON TABLES FROM ${reader}`,
  `REVOKE SELECT ON ALL TABLES IN SCHEMA ${schema} FROM ${reader}`,
  `REVOKE USAGE ON SCHEMA ${schema} FROM ${reader}`,
]

/** PostgreSQL reports a grant that this user may not give as a warning, not an error, so the outcome is counted. */
const COUNT = `
SELECT count(*)::int4 AS objects,
       count(*) FILTER (WHERE has_schema_privilege($2, c.relnamespace, 'USAGE')
         AND has_table_privilege($2, c.oid, 'SELECT'))::int4 AS readable
FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`

const refuse = (code: SchemaGrantError["code"], message: string) => new SchemaGrantError({ code, message })

const isOurs = (schema: string) => /^(cabinet|sources|information_schema|pg_.*)$/.test(schema)

export const layer = Layer.effect(
  SchemaGrants,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { role } = yield* ReaderClient

    const notMine = (schema: string, what: "expose" | "hide", why: string) =>
      refuse(
        "no_right",
        `The tables of ${schema} are another's (${why}). Let their owner run: ${(what === "expose" ? exposing : hiding)(quoteName(schema), quoteName(role)).slice(0, 2).join("; ")};`,
      )

    const change = (what: "expose" | "hide") =>
      Effect.fnUntraced(function* (schema: string) {
        if (isOurs(schema)) {
          return yield* refuse(
            "not_for_readers",
            `${schema} is the cabinet's own or the system's: who may read it is settled.`,
          )
        }
        const known = yield* sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${schema}`
        if (known.length === 0 || !isSqlName(schema)) {
          return yield* refuse("no_such_schema", `The database has no schema ${JSON.stringify(schema)}.`)
        }
        const reader = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${role}`
        if (reader.length === 0) {
          return yield* refuse("no_reader", `There is no reader role ${role}; \`cabinet doctor\` says why.`)
        }
        const statements = (what === "expose" ? exposing : hiding)(quoteName(schema), quoteName(role))
        const work = Effect.gen(function* () {
          for (const statement of statements) yield* sql.unsafe(statement)
          return (yield* sql.unsafe<{ objects: number; readable: number }>(COUNT, [schema, role]))[0]!
        })
        const counted = yield* sql
          .withTransaction(work)
          .pipe(
            Effect.mapError((error: SqlError.SqlError) =>
              sqlState(error) === "42501" ? notMine(schema, what, sqlMessage(error)) : error,
            ),
          )
        const left = what === "expose" ? counted.objects - counted.readable : counted.readable
        if (left > 0 && left === counted.objects) {
          return yield* notMine(schema, what, `${left} of ${counted.objects} could not be changed`)
        }
        return { objects: counted.readable }
      }, orUnavailable)

    return SchemaGrants.of({ expose: change("expose"), hide: change("hide") })
  }),
)
