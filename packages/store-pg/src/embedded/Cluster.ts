/**
 * Creates a PostgreSQL data directory. It appears under its name whole or not at all: an interrupted run leaves only a
 * directory with another name, which the next run removes.
 */
import { spawn } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Binaries } from "./Binaries.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { reasonOfProgram } from "./LastWords.ts"
import { giveTo, type Launcher } from "./Unprivileged.ts"

export interface ClusterOptions {
  readonly binaries: Binaries
  readonly launcher: Launcher
  /** The path of the new cluster; its parent must exist. */
  readonly pgdata: string
  readonly superuser: string
  /** The superuser's password; without one every local login is trusted, which requires a private socket. */
  readonly password?: string
}

/** The major version of an existing cluster, or undefined without one. */
export const clusterVersion = (pgdata: string): number | undefined => {
  const file = join(pgdata, "PG_VERSION")
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined
}

/**
 * Runs initdb next to `pgdata` and renames the result. The encoding is UTF-8 whatever the environment's locale, and the
 * collation is byte order, so that new locale data of the operating system can never corrupt an index. Rejects with
 * EmbeddedPostgresError `init_failed`.
 */
export const initCluster = async (options: ClusterOptions): Promise<void> => {
  const { binaries, launcher, pgdata, superuser, password } = options
  const { path: fresh, remove } = directoryBeside(pgdata)
  const target = join(fresh, "pgdata")
  mkdirSync(target, { mode: 0o700 })
  const auth = ["--auth=trust"]
  if (password !== undefined) {
    const file = join(fresh, "password")
    writeFileSync(file, password, { mode: 0o600 })
    auth.splice(0, 1, "--auth=scram-sha-256", `--pwfile=${file}`)
  }
  giveTo(launcher, fresh)
  const words = [
    ...launcher.prefix,
    binaries.initdb,
    `--pgdata=${target}`,
    `--username=${superuser}`,
    "--encoding=UTF8",
    ...localeOptions(binaries.major),
    "--text-search-config=simple",
    ...auth,
  ]
  const { code, output } = await run(words, launcher, binaries.env)
  if (code !== 0) {
    remove()
    throw new EmbeddedPostgresError({
      code: "init_failed",
      message: `PostgreSQL cannot create its data directory ${pgdata}: ${reasonOfProgram(output)}. Check the disk's free space and the directory's permissions.`,
    })
  }
  renameSync(target, pgdata)
  remove()
}

/**
 * Creates a directory next to `pgdata`, on the same disk, for a cluster that is later renamed into place. Removes the
 * remains of an interrupted run: the caller holds the locks that prevent others from creating one at the same time.
 */
export const directoryBeside = (pgdata: string): { readonly path: string; readonly remove: () => void } => {
  const [parent, stem] = [dirname(pgdata), `${basename(pgdata)}.new-`]
  const clear = (path: string) => rmSync(path, { recursive: true, force: true })
  for (const left of readdirSync(parent)) if (left.startsWith(stem)) clear(join(parent, left))
  const path = mkdtempSync(join(parent, stem))
  chmodSync(path, 0o700)
  return { path, remove: () => clear(path) }
}

/** PostgreSQL 15 and 16 have no builtin locale provider; there plain C is the one locale that exists everywhere. */
const localeOptions = (major: number): ReadonlyArray<string> =>
  major >= 17
    ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--lc-collate=C", "--lc-ctype=C"]
    : ["--locale-provider=libc", "--locale=C"]

const run = (words: ReadonlyArray<string>, launcher: Launcher, env: Readonly<Record<string, string>>) =>
  new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn(words[0]!, words.slice(1), {
      cwd: "/",
      env: { ...process.env, ...env, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      ...launcher.identity,
    })
    let output = ""
    const keep = (bytes: Buffer) => (output = (output + bytes.toString("utf8")).slice(-4000))
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.on("error", (error) => resolve({ code: -1, output: error.message }))
    child.on("close", (code) => resolve({ code, output }))
  })
