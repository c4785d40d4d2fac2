/** The addresses of tables. */
import { consolePath, type Frame } from "../html/Shell.ts"

/** Of a table's screen; its rows, a row and its exports lie below. */
export const tablePath = (frame: Pick<Frame, "base">, schema: string, name: string): string =>
  consolePath(frame, `tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`)
