/** The secrets of a file: texts of the environment or of other files. No message contains one. */
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type { Path, Problem } from "./Problem.ts"

/** Where references lead, and the problems that were found. */
export interface References {
  /** The text that a reference leads to, without its last line break; empty, and a problem, if it leads nowhere. */
  readonly read: (reference: string, path: Path) => string
  /** The same for a text that may be missing. */
  readonly peek: (reference: string) => string | null
  /** A path of the file, from the working directory. */
  readonly pathOf: (relative: string) => string
  readonly problems: ReadonlyArray<Problem>
}

const textOf = (reference: string, pathOf: (relative: string) => string): string | { readonly missing: string } => {
  const name = reference.slice(reference.indexOf(":") + 1)
  if (reference.startsWith("env:")) {
    const value = process.env[name]
    return value === undefined || value === "" ? { missing: `The environment has no ${name}.` } : value
  }
  try {
    const text = readFileSync(pathOf(name), "utf8").replace(/\r?\n$/, "")
    return text === "" ? { missing: `The file ${name} is empty.` } : text
  } catch (error) {
    return { missing: `The file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}.` }
  }
}

/** `file`: the file that refers, `-` for standard input. */
export const referencesOf = (file: string): References => {
  const folder = file === "-" ? process.cwd() : dirname(resolve(file))
  const pathOf = (relative: string) => resolve(folder, relative)
  const problems: Array<Problem> = []
  const peek = (reference: string) => {
    const text = textOf(reference, pathOf)
    return typeof text === "string" ? text : null
  }
  const read = (reference: string, path: Path) => {
    const text = textOf(reference, pathOf)
    if (typeof text === "string") return text
    problems.push({ path, message: text.missing })
    return ""
  }
  return { read, peek, pathOf, problems }
}
