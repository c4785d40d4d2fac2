/**
 * Verifies the settings of a new session. They are sent when it is opened, but a pooler may drop them silently, and
 * settings of a role or a database may override them. So they are read back; those that differ are set by a statement and
 * read back again. A session that still differs is rejected with a message and closed.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { type SessionSettings, UNVERIFIED } from "./SessionSettings.ts"

/** Schema-qualified, because the search path is not verified yet. */
const READ = `SELECT name, setting FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[])`
/** Sets this many settings at once: a pooler may have dropped all of them. */
const SET = (count: number) =>
  `SELECT ${Array.from({ length: count }, (_, at) => `pg_catalog.set_config($${2 * at + 1}::pg_catalog.text, $${2 * at + 2}::pg_catalog.text, false)`).join(", ")}`
const END = "SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())"

/** A session lacks a required setting, which the message names. */
export class SessionUnfit extends Error {
  override readonly name = "SessionUnfit"
}

interface Difference {
  readonly name: string
  readonly wanted: string
  readonly is: string | undefined
  readonly why?: string
}

const unfit = ({ name, wanted, is, why }: Difference) => {
  const cause = new SessionUnfit(
    `a session's ${name} is ${is === undefined ? "unknown" : JSON.stringify(is)} instead of ${JSON.stringify(wanted)}${why === undefined ? "" : ` (${why})`}: a connection pooler, or a setting of the database or the role, prevents it`,
  )
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause, message: cause.message, operation: "connect" }),
  })
}

const messageOf = (error: SqlError.SqlError): string =>
  error.reason.cause instanceof Error ? error.reason.cause.message : error.message

/** Returns whether a setting had to be set by a statement: a RESET would then undo it. Fails for an unfit session. */
export const checkSession = Effect.fnUntraced(function* (
  connection: PgConnection.PgConnection,
  { set, corrected = {}, found = {}, more = [] }: SessionSettings,
) {
  const wanted = Object.entries({ ...set, ...found }).filter(([name]) => !UNVERIFIED.includes(name))
  const names = [...wanted.map(([name]) => name), ...Object.keys(corrected)]
  const differences = Effect.gen(function* () {
    const rows = (yield* connection.queryValues(READ, [names], false)) as ReadonlyArray<readonly [string, string]>
    const now = new Map(rows)
    const missed = wanted.flatMap(([name, value]): ReadonlyArray<Difference> => {
      const is = now.get(name)
      return is === value ? [] : [{ name, wanted: value, is }]
    })
    const others = Object.entries(corrected).flatMap(([name, correct]): ReadonlyArray<Difference> => {
      const is = now.get(name)
      return is === undefined || correct(is) === is ? [] : [{ name, wanted: correct(is), is }]
    })
    return [...missed, ...others]
  })
  const refuse = (difference: Difference) =>
    Effect.andThen(Effect.ignore(connection.query(END, [], false)), Effect.fail(unfit(difference)))
  const dropped = yield* differences
  const stands = dropped.find(({ name }) => Object.hasOwn(found, name))
  if (stands !== undefined) return yield* refuse(stands)
  for (const [name, value] of more) {
    yield* Effect.catchTag(connection.query(SET(1), [name, value], false), "SqlError", (error) =>
      refuse({ name, wanted: value, is: undefined, why: messageOf(error) }),
    )
  }
  const setEach = Effect.forEach(
    dropped,
    (difference) =>
      Effect.catchTag(connection.query(SET(1), [difference.name, difference.wanted], false), "SqlError", (error) =>
        refuse({ ...difference, why: messageOf(error) }),
      ),
    { discard: true },
  )
  if (dropped.length > 0) {
    const values = dropped.flatMap(({ name, wanted: value }) => [name, value])
    // One by one, only to find out which setting is refused, and why.
    yield* Effect.catchTag(
      Effect.asVoid(connection.query(SET(dropped.length), values, false)),
      "SqlError",
      () => setEach,
    )
  }
  if (dropped.length === 0) return more.length > 0
  const [left] = yield* differences
  if (left !== undefined) return yield* refuse(left)
  return true
})
