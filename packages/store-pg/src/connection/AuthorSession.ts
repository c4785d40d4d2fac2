/**
 * Runs a customer's script as the author: the role that makes tables and views in `public` and in schemas of its own, and
 * sees nothing of the cabinet's. One session; unless asked otherwise one transaction, so that a script is done whole or
 * not at all.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import * as SessionPool from "./SessionPool.ts"
import { author } from "./SessionSettings.ts"
import { admitAuthor } from "../migrations/AuthorLogin.ts"
import { connectionLossAsError, sqlMessage, sqlState } from "./StoreFailure.ts"
import { splitStatements } from "./SqlScript.ts"

/** A statement that PostgreSQL refused. `number` counts from 1; 0 when no statement was reached. */
export class ScriptError extends Schema.TaggedError<ScriptError>()("ScriptError", {
  message: Schema.String,
  number: Schema.Int,
}) {}

export interface StatementOutcome {
  readonly statement: string
  /** Each row as JSON text, made by PostgreSQL, so that no digit is lost; null for a statement that answers none. */
  readonly rows: ReadonlyArray<string> | null
  /** How many rows were answered, or changed; null where PostgreSQL says no number. */
  readonly count: number | null
}

export interface ScriptOptions {
  /** The author's login. */
  readonly url: string
  /** The owner's address, where the login holds only when the owner has just said so (see AuthorLogin). */
  readonly admittedBy?: string | undefined
  readonly script: string
  /** False for statements that PostgreSQL takes outside a transaction only, such as VACUUM. */
  readonly transaction: boolean
}

/** The statement so written that each of its rows comes as JSON text; null for one that cannot be so written. */
export const asJsonRows = (statement: string): string | null => {
  const bare = statement.replace(/^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()+/, "")
  const first = /^[a-z]+/i.exec(bare)?.[0].toLowerCase() ?? ""
  const has = (word: string) => new RegExp(`\\b${word}\\b`, "i").test(bare)
  if (["select", "values", "table"].includes(first) && !has("into")) {
    return `SELECT row_to_json(r)::text AS row FROM (\n${statement}\n) r`
  }
  if (first === "with" && !["insert", "update", "delete", "merge"].some(has)) {
    return `SELECT row_to_json(r)::text AS row FROM (\n${statement}\n) r`
  }
  if (["insert", "update", "delete", "merge"].includes(first) && has("returning")) {
    return `WITH r AS (\n${statement}\n) SELECT row_to_json(r)::text AS row FROM r`
  }
  return null
}

const plain = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

const runStatement = Effect.fnUntraced(function* (session: SqlConnection.Connection, statement: string) {
  const wrapped = asJsonRows(statement)
  if (wrapped !== null) {
    const rows = (yield* session.executeUnprepared(wrapped, [], undefined)) as ReadonlyArray<{ row: string }>
    return { statement, rows: rows.map(({ row }) => row), count: rows.length }
  }
  const result = (yield* session.executeRaw(statement, [])) as {
    readonly rows?: ReadonlyArray<object>
    readonly rowCount?: number | null
  }
  const rows = result.rows ?? []
  const shown = rows.length === 0 ? null : rows.map((row) => JSON.stringify(row, plain))
  return { statement, rows: shown, count: rows.length > 0 ? rows.length : (result.rowCount ?? null) }
})

const inWords = (number: number, many: boolean) => (error: SqlError.SqlError) => {
  const { hint, detail } = (error.reason.cause ?? {}) as { hint?: unknown; detail?: unknown }
  const more = [detail, hint].filter((text) => typeof text === "string" && text !== "")
  const state = sqlState(error)
  const where = many ? `Statement ${number}: ` : ""
  const sentence = [`${where}${sqlMessage(error)}${state === undefined ? "" : ` (${state})`}`, ...more].join(". ")
  return new ScriptError({ message: sentence, number })
}

/** The outcome of every statement, in order. */
export const runScript = ({
  url,
  admittedBy,
  script,
  transaction,
}: ScriptOptions): Effect.Effect<ReadonlyArray<StatementOutcome>, ScriptError> =>
  Effect.gen(function* () {
    const statements = splitStatements(script)
    if (admittedBy !== undefined) yield* Effect.mapError(admitAuthor(url, admittedBy), inWords(0, false))
    const sql = yield* PgClient.PgClient
    const session = yield* Effect.mapError(sql.reserve, inWords(0, false))
    const say = (statement: string) =>
      Effect.mapError(session.executeUnprepared(statement, [], undefined), inWords(statements.length, false))
    const outcomes: Array<StatementOutcome> = []
    const all = Effect.gen(function* () {
      if (transaction) yield* say("BEGIN")
      for (const [index, statement] of statements.entries()) {
        const run = connectionLossAsError(runStatement(session, statement))
        outcomes.push(yield* Effect.mapError(run, inWords(index + 1, statements.length > 1)))
      }
      if (transaction) yield* say("COMMIT")
    })
    yield* transaction ? Effect.onError(all, () => Effect.ignore(say("ROLLBACK"))) : all
    return outcomes
  }).pipe(
    Effect.scoped,
    Effect.provide(
      SessionPool.layer({
        url,
        maxConnections: 1,
        connectTimeout: "5 seconds",
        applicationName: "data-cabinet author",
        settings: author,
      }),
    ),
    Effect.catchTag("SqlError", (error) => Effect.fail(inWords(0, false)(error))),
  )
