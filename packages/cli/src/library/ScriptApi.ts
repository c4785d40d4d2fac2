/** Runs SQL as the cabinet's author role, which lets a program create tables and views, with promises. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { managed } from "@data-cabinet/core/audit/Managed"
import { scriptAct } from "@data-cabinet/core/acts/ScriptAct"
import { splitStatements } from "@data-cabinet/store-pg/connection/SqlScript"
import { runScript, ScriptError } from "@data-cabinet/store-pg/connection/AuthorSession"
import { Effect } from "effect"
import type { Run } from "./RunEffect.ts"
import type { RoleLogin } from "@data-cabinet/store-pg/migrations/RoleLogins"

/** How to run a script. */
export interface ScriptOptions {
  /** False for statements that cannot run in a transaction, such as VACUUM. Default true: all or nothing. */
  readonly transaction?: boolean | undefined
}

/** The outcome of one statement. */
export interface ScriptOutcome {
  /** The statement, as written in the script. */
  readonly statement: string
  /** Its rows; null for a statement that returns none. Numbers past 2^53 lose digits; `texts` keeps them. */
  readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>> | null
  /** Its rows as JSON text; null for a statement that returns none. */
  readonly texts: ReadonlyArray<string> | null
  /** How many rows were returned, or changed; null if PostgreSQL reports no number. */
  readonly count: number | null
}

/** Runs an SQL script as the author role. */
export const runAsAuthor = (
  run: Run,
  author: RoleLogin,
  script: string,
  { transaction = true }: ScriptOptions,
): Promise<ReadonlyArray<ScriptOutcome>> => {
  if (!author.there) return run(Effect.fail(new ScriptError({ message: author.reason, number: 0 })))
  const outcomes = AuditLog.use((log) =>
    managed(log, scriptAct(splitStatements(script)), runScript({ ...author, script, transaction })),
  )
  return run(
    Effect.map(outcomes, (all) =>
      all.map(({ statement, rows, count }) => ({
        statement,
        rows: rows?.map((row) => JSON.parse(row) as Readonly<Record<string, unknown>>) ?? null,
        texts: rows,
        count,
      })),
    ),
  )
}
