/**
 * Runs a customer's script as the author: the role that creates tables and views in `public` and in its own schemas,
 * and has no access to the cabinet's own schema. It uses one session and, by default, one transaction, so that a script
 * runs as a whole or not at all.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import * as SessionPool from "./SessionPool.ts"
import { author, authorBounded } from "./SessionSettings.ts"
import { allowAuthorLogin } from "./AuthorLogin.ts"
import { connectionLossAsError, sqlMessage, sqlState } from "./StoreFailure.ts"
import { splitStatements } from "./SqlScript.ts"

/** A statement that PostgreSQL rejected. `number` counts from 1; 0 if no statement was reached. */
export class ScriptError extends Schema.TaggedError<ScriptError>()("ScriptError", {
  message: Schema.String,
  number: Schema.Int,
}) {}

export interface StatementOutcome {
  readonly statement: string
  /** Each row as JSON text, built by PostgreSQL so that no digit is lost; null for a statement that returns no rows. */
  readonly rows: ReadonlyArray<string> | null
  /** The number of rows returned or changed; null if PostgreSQL reports none. */
  readonly count: number | null
}

export interface ScriptOptions {
  /** The connection URL of the author. */
  readonly url: string
  /** The owner's URL, if the author's login is valid only right after the owner has admitted it (see AuthorLogin). */
  readonly admittedBy?: string | undefined
  readonly script: string
  /** False for statements that PostgreSQL allows only outside a transaction, such as VACUUM. */
  readonly transaction: boolean
  /** A script of the cabinet's own: it has a time limit, and its errors do not name the failed statement. */
  readonly ours?: boolean
}

/** Rewrites the statement to return each row as JSON text; null if it cannot be rewritten. */
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

const inWords = (number: number, many: boolean, statement?: string) => (error: SqlError.SqlError) => {
  const { hint, detail } = (error.reason.cause ?? {}) as { hint?: unknown; detail?: unknown }
  const state = sqlState(error)
  const ours = statement === undefined ? undefined : schemaHint(statement, state, sqlMessage(error))
  const more = [detail, hint, ours].filter((text) => typeof text === "string" && text !== "")
  const where = many ? `Statement ${number}: ` : ""
  const sentence = [`${where}${sqlMessage(error)}${state === undefined ? "" : ` (${state})`}`, ...more].join(". ")
  return new ScriptError({ message: sentence, number })
}

/** Returns the outcome of every statement, in order. */
export const runScript = ({
  url,
  admittedBy,
  script,
  transaction,
  ours = false,
}: ScriptOptions): Effect.Effect<ReadonlyArray<StatementOutcome>, ScriptError> =>
  Effect.gen(function* () {
    const statements = splitStatements(script)
    if (admittedBy !== undefined) yield* Effect.mapError(allowAuthorLogin(url, admittedBy), inWords(0, false))
    const sql = yield* PgClient.PgClient
    const session = yield* Effect.mapError(sql.reserve, inWords(0, false))
    const isNumbered = statements.length > 1 && !ours
    const say = (statement: string) =>
      Effect.mapError(session.executeUnprepared(statement, [], undefined), inWords(statements.length, false))
    const outcomes: Array<StatementOutcome> = []
    const all = Effect.gen(function* () {
      if (transaction) yield* say("BEGIN")
      for (const [index, statement] of statements.entries()) {
        const run = connectionLossAsError(runStatement(session, statement))
        outcomes.push(yield* Effect.mapError(run, inWords(index + 1, isNumbered, ours ? undefined : statement)))
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
        settings: ours ? authorBounded : author,
      }),
    ),
    Effect.catchTag("SqlError", (error) => Effect.fail(inWords(0, false)(error))),
  )

const HINT = "The author creates in public and in schemas of its own: cabinet schema add NAME adds one"

const NOISE = /^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)+/
const CREATES = /^create\s/i
const DENIED = /^permission denied for (schema|database) (.+)$/

/** The text before the columns or the query of a statement. It has the name of the created object. */
const headOf = (statement: string): string => statement.split(/\(|\s(?:as|on)\s/i, 1)[0]!

/**
 * The hint for a statement that PostgreSQL refused with this message; undefined if something else was refused, such as a
 * schema that the statement reads from.
 */
const schemaHint = (statement: string, state: string | undefined, message: string): string | undefined => {
  const [, kind, name = ""] = state === "42501" ? (DENIED.exec(message) ?? []) : []
  const bare = statement.replace(NOISE, "")
  if (kind === undefined || !CREATES.test(bare)) return undefined
  const head = headOf(bare)
  if (kind === "database") return /^create\s+schema\b/i.test(head) ? HINT : undefined
  const names = (text: string) => text.toLowerCase().replaceAll('"', "").includes(`${name.toLowerCase()}.`)
  return names(head) || !names(bare.slice(head.length)) ? HINT : undefined
}
