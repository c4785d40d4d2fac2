/**
 * A selection as one statement to run by hand, in psql or any other client: its first page, with the values written in.
 */
import { Result } from "effect"
import { CursorKey } from "../pagination/CursorKey.ts"
import type { ReadableTable } from "../row/Catalog.ts"
import type { SelectionError } from "./SelectionError.ts"
import { type ParamPairs, selectionParams } from "./SelectionParams.ts"
import { selectionPlan } from "./SelectionPlan.ts"
import { statementText } from "./SelectionSql.ts"
import { type ComparedTerm, SqlParameters } from "./SqlParameters.ts"

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "'": "''", "\n": "\\n", "\r": "\\r" }

/** Terminals act on the other control characters, and the last ones change the direction of the displayed text. */
const ESCAPED = /[\\'\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const escape = (unit: string): string => ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * A text as a literal in one line. A text with a backslash gets an escape string, whose meaning does not depend on the
 * session's `standard_conforming_strings`. NUL, which PostgreSQL cannot hold, was refused before.
 */
export const quoteLiteral = (text: string): string => {
  const quoted = `'${text.replaceAll(ESCAPED, escape)}'`
  return quoted.includes("\\") ? `E${quoted}` : quoted
}

/** Writes each value into the statement, cast as a parameter would be. */
class SqlLiterals extends SqlParameters {
  override add(text: string, type: string): string {
    return `${quoteLiteral(text)}::${type}`
  }

  override addLike(text: string, { type }: ComparedTerm): string {
    return this.add(text, type.sql)
  }
}

/** Without its cursor: a run of the script begins at the first row. */
const NO_KEY = new CursorKey(new Uint8Array(32))

export const selectionScript = (
  table: ReadableTable,
  params: ParamPairs,
  zone: string,
): Result.Result<string, SelectionError> =>
  selectionParams(params.filter(([name]) => name !== "cursor")).pipe(
    Result.flatMap((selection) => selectionPlan(selection, table, NO_KEY)),
    Result.map((plan) => `${statementText(plan, zone, new SqlLiterals())};`),
  )
