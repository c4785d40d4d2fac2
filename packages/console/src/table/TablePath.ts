/** The addresses of tables, and their estimated sizes. */
import { consolePath, type Frame } from "../html/Shell.ts"

/** The path of a table's screen; its rows, a row and its exports are below it. */
export const tablePath = (frame: Pick<Frame, "base">, schema: string, name: string): string =>
  consolePath(frame, `tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`)

/** PostgreSQL has no estimate for a table that it has not analyzed yet, or one of 0 although rows have come since. */
export const isEstimated = (rows: number | null): rows is number => rows !== null && rows > 0
