/**
 * Creates a directory and its missing parents. Node's own `recursive` never returns where the parent exists and refuses to
 * hold directories, such as `/proc`: it keeps a core busy, and no signal is handled.
 */
import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Returns the first directory that was created; undefined if there was nothing to create.
 *
 * @throws the system's error, for the directory that cannot be created.
 */
export const makeDirectories = (path: string, mode = 0o777): string | undefined => {
  const missing: Array<string> = []
  for (let at = path; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at)
  for (const directory of missing.toReversed()) makeOne(directory, mode)
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a directory`)
  return missing.at(-1)
}

const makeOne = (directory: string, mode: number): void => {
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    // Another process may have created the directory meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}
