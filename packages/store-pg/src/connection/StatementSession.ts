/** Runs the statements of the SQL client on one session of the driver. */
import type { PgConnection } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { Uncancelled } from "./Uncancelled.ts"

const rowsOf = (result: PgConnection.Result) => result.rows

/** A session as seen by statements. */
export class StatementSession implements SqlConnection.Connection {
  readonly #connection: PgConnection.PgConnection
  /** A setting had to be set by a statement, which RESET ALL would undo. */
  readonly settingsAreLoose: boolean
  readonly #run: <A>(statement: Effect.Effect<A, SqlError.SqlError>) => Effect.Effect<A, SqlError.SqlError>

  constructor(connection: PgConnection.PgConnection, settingsAreLoose: boolean, uncancelled?: Uncancelled) {
    this.#connection = connection
    this.settingsAreLoose = settingsAreLoose
    this.#run = uncancelled === undefined ? (statement) => statement : (statement) => uncancelled.run(statement)
  }

  execute(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.#run(this.#connection.query(sql, params)), rowsOf)
  }
  executeUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return Effect.map(this.#run(this.#connection.query(sql, params, false)), rowsOf)
  }
  executeRaw(sql: string, params: ReadonlyArray<unknown>) {
    return this.#run(this.#connection.query(sql, params))
  }
  executeValues(sql: string, params: ReadonlyArray<unknown>) {
    return this.#run(this.#connection.queryValues(sql, params))
  }
  executeValuesUnprepared(sql: string, params: ReadonlyArray<unknown>) {
    return this.#run(this.#connection.queryValues(sql, params, false))
  }
  executeStream(sql: string, params: ReadonlyArray<unknown>) {
    return this.#connection.stream(sql, params)
  }
}
