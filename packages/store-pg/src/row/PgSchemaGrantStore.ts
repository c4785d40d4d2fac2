/** Grants schemas to the reader's role, and adds schemas for the author. */
import {
  type AddOutcome,
  type GrantChange,
  type GrantOutcome,
  SchemaGrantStore,
} from "@data-cabinet/core/row/SchemaGrantStore"
import { quoteName } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { LOCK_ROLES } from "../connection/AuthorLogin.ts"
import { mirrorGrants } from "../migrations/ReportsRole.ts"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { orUnavailable, sqlMessage, sqlState } from "../connection/StoreFailure.ts"
import { type RoleLogin, roleName } from "../migrations/RoleLogins.ts"

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

/** The author's default privileges give the reader and the reports' role access to the new schema. */
const adding = (schema: string, author: string) => [`CREATE SCHEMA ${schema} AUTHORIZATION ${author}`]

/** Counts what was granted, because PostgreSQL only warns about a grant that this user may not give. */
const COUNT = `
SELECT count(*)::int4 AS objects,
       count(*) FILTER (WHERE has_schema_privilege($2, c.relnamespace, 'USAGE')
         AND has_table_privilege($2, c.oid, 'SELECT'))::int4 AS readable
FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`

/** What everybody may use, such as the schema public, was not granted to the reader. */
const LIST = `
SELECT n.nspname::text AS name FROM pg_namespace n
WHERE EXISTS (
  SELECT FROM aclexplode(n.nspacl) a JOIN pg_roles r ON r.oid = a.grantee
  WHERE r.rolname = $1 AND a.privilege_type = 'USAGE')
ORDER BY n.nspname`

/** `author` is the role that owns added schemas. */
export const layer = (author: RoleLogin) =>
  Layer.effect(
    SchemaGrantStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { role } = yield* ReaderClient

      const statementsOf = (change: GrantChange, schema: string) =>
        (change === "expose" ? exposing : hiding)(quoteName(schema), quoteName(role))

      const apply = Effect.fnUntraced(function* (schema: string, statements: ReadonlyArray<string>) {
        yield* sql.unsafe(LOCK_ROLES)
        for (const statement of statements) yield* sql.unsafe(statement)
        const [here] = yield* sql<{ database: string }>`SELECT current_database()::text AS database`
        yield* Effect.provideService(mirrorGrants(role, roleName(here!.database, "reports")), PgClient.PgClient, sql)
        return (yield* sql.unsafe<{ objects: number; readable: number }>(COUNT, [schema, role]))[0]!
      })

      const create = Effect.fnUntraced(function* (schema: string): Effect.fn.Return<AddOutcome, SqlError.SqlError> {
        if (!author.there) return { is: "no_author", reason: author.reason }
        const known = yield* sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${schema}`
        if (known.length > 0) return { is: "exists" }
        const statements = adding(quoteName(schema), quoteName(author.role))
        const added: AddOutcome = { is: "added", author: author.role }
        return yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }).pipe(
          Effect.as(added),
          Effect.catchIf(
            (error) => ["42501", "42P06"].includes(sqlState(error) ?? ""),
            (error) =>
              Effect.succeed<AddOutcome>(
                sqlState(error) === "42P06"
                  ? { is: "exists" }
                  : { is: "denied", detail: sqlMessage(error), statements },
              ),
          ),
        )
      })

      return SchemaGrantStore.of({
        add: (schema) => orUnavailable(create(schema)),
        list: orUnavailable(
          Effect.map(sql.unsafe<{ name: string }>(LIST, [role]), (rows) => rows.map(({ name }) => name)),
        ),
        change: Effect.fnUntraced(function* (change, schema): Effect.fn.Return<GrantOutcome, SqlError.SqlError> {
          const known = yield* sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${schema}`
          if (known.length === 0) return { is: "no_schema" }
          const reader = yield* sql`SELECT 1 AS one FROM pg_roles WHERE rolname = ${role}`
          if (reader.length === 0) return { is: "no_reader", role }
          const statements = statementsOf(change, schema)
          return yield* sql.withTransaction(apply(schema, statements)).pipe(
            Effect.map((counted): GrantOutcome => ({ is: "changed", ...counted, statements })),
            Effect.catchIf(
              (error) => sqlState(error) === "42501",
              (error) => Effect.succeed<GrantOutcome>({ is: "denied", detail: sqlMessage(error), statements }),
            ),
          )
        }, orUnavailable),
      })
    }),
  )
