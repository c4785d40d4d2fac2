/** Roles with more rights in this database than a cabinet needs, and work that could not be stopped. */
import type { AuthorityReport } from "@data-cabinet/core/diagnostics/Diagnostics"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { FORGOTTEN_SECONDS, PREPARED, type PreparedTransaction } from "../maintenance/PreparedTransactions.ts"
import { OUTLIVED_SESSIONS, UNSTOPPABLE_FOR_ALL } from "../connection/UnstoppableCode.ts"

/** The author's roles: those that the cabinet created here, by name. */
const AUTHORS = `(SELECT r.oid FROM pg_roles r JOIN cabinet.role_password p ON p.role = r.rolname WHERE r.rolname LIKE '%\\_author')`

const GENERAL = `
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
  EXISTS (SELECT FROM ${AUTHORS} a WHERE has_database_privilege(a.oid, current_database(), 'CREATE')) AS author_creates`

/** In the order of their creation, which is that of their requirements. */
const EXTENSIONS = `
SELECT e.extname::text AS name, n.nspname::text AS schema
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extowner IN ${AUTHORS} ORDER BY e.oid`

export const authority = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [general] = yield* sql.unsafe<{ is_superuser: boolean; author_creates: boolean }>(GENERAL)
  const remedies = yield* sql.unsafe<{ remedy: string }>(UNSTOPPABLE_FOR_ALL)
  const report: AuthorityReport = {
    isSuperuser: general!.is_superuser,
    outlivedSessions: yield* sql.unsafe<AuthorityReport["outlivedSessions"][number]>(OUTLIVED_SESSIONS),
    unstoppableForAll: remedies.map(({ remedy }) => remedy),
    preparedTransactions: yield* sql.unsafe<PreparedTransaction>(PREPARED, [FORGOTTEN_SECONDS]),
    authorsExtensions: yield* sql.unsafe<AuthorityReport["authorsExtensions"][number]>(EXTENSIONS),
    authorCreates: general!.author_creates,
  }
  return report
})
