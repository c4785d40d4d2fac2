/** What is wrong with a file, and where: its line and column are added when it is printed. */
import { CommandError } from "../error/CommandError.ts"

/** The members and indexes that lead to a value. */
export type Path = ReadonlyArray<PropertyKey>

/** One thing that is wrong. */
export interface Problem {
  readonly path: Path
  readonly message: string
}

/** The place of a value in the file; of a missing one that of the object that lacks it. */
export type PlaceOf = (path: Path) => { readonly line: number; readonly column: number }

/** More are counted only. */
const MAX_SHOWN = 20

/** `sources[0].verify`. */
const pathText = (path: Path): string =>
  path.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`)).join("")

/** A refusal with each problem on its own line, in the order of the file. */
export const refusalOf = (problems: ReadonlyArray<Problem>, file: string, placeOf: PlaceOf): CommandError => {
  const placed = problems
    .map((problem) => ({ ...problem, place: placeOf(problem.path) }))
    .sort((one, other) => one.place.line - other.place.line || one.place.column - other.place.column)
  const lines = placed.slice(0, MAX_SHOWN).map(({ path, message, place: { line, column } }) => {
    const at = pathText(path)
    return `${file}:${line}:${column}: ${at === "" ? "" : `${at}: `}${message}`
  })
  const left = placed.length - lines.length
  const more = left > 0 ? [`… and ${left} more.`] : []
  return new CommandError({ code: "refused", message: ["Nothing was changed:", ...lines, ...more].join("\n") })
}
