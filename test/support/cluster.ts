/**
 * PostgreSQL servers of a test's own, for what the shared one must not undergo: being killed, copied, set back, followed and
 * promoted. They write to the system but do not flush to the disk: killing a process loses nothing that way.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Binaries, binariesIn, shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { isServerOf, readPostmasterPid } from "@data-cabinet/store-pg/embedded/PostmasterPid"
import { candidates, giveTo, type Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { inject } from "vitest"
import { migrateTemplate } from "./migrateTemplate.ts"
import { databaseUrl, ownerRole, runSql, superuser } from "./postgresAdmin.ts"
import { dyingWithUs } from "./postgresCluster.ts"

const SETTINGS = {
  listen_addresses: "",
  fsync: "off",
  full_page_writes: "on",
  synchronous_commit: "on",
  max_connections: "60",
  shared_buffers: "16MB",
  max_wal_size: "256MB",
  autovacuum: "off",
  log_min_messages: "warning",
}

/** A folder for clusters, removed with everything in it at the end. */
export interface ClusterHome {
  readonly dir: string
  readonly binaries: Binaries
  readonly launcher: Launcher
  /** A folder in it that servers can write to. */
  readonly folder: (name: string) => string
  /** A new, empty cluster. */
  readonly init: (name: string) => Promise<TestCluster>
  /** The cluster whose files are in `<name>` already. */
  readonly cluster: (name: string) => TestCluster
  /** Ends every server that is left and removes the folder. */
  readonly remove: () => Promise<void>
}

export interface TestCluster {
  readonly pgdata: string
  readonly socketDir: string
  /** Waits until connections are taken, on a standby too. */
  readonly start: (settings?: Readonly<Record<string, string>>) => Promise<void>
  /** `SIGINT` for a fast shutdown, `SIGKILL` for a crash; waits until the files are nobody's. */
  readonly end: (signal: "SIGINT" | "SIGKILL") => Promise<void>
  /** The URL of a database as its owner. */
  readonly url: (database: string) => string
  /** One statement as the superuser. */
  readonly run: (statement: string, database?: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** An empty database of the owner's. */
  readonly createDatabase: (database: string) => Promise<void>
  /** A database with the schema in it. */
  readonly createCabinet: (database: string) => Promise<void>
  /** Runs `pg_resetwal` on the stopped server; false where the binaries have none. */
  readonly resetWal: (words: ReadonlyArray<string>) => boolean
  /** The files as they are now, under another name; leaves out what belongs to the running server. */
  readonly copyTo: (name: string) => string
}

/** The one by which the suite's own server runs, which is proof enough. */
export const suiteLauncher = (): Launcher => candidates().find(({ name }) => name === inject("postgresLauncher"))!

/** `bin`: a folder of other binaries than the suite's. */
export const clusterHome = (bin = process.env["TEST_PG_BIN"]): ClusterHome => {
  const dir = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "dc-c-"))
  chmodSync(dir, 0o755)
  const binaries = bin === undefined || bin === "" ? shippedBinaries(join(dir, "lib")) : binariesIn(bin)
  const launcher = dyingWithUs(suiteLauncher())
  const folder = (name: string) => {
    mkdirSync(join(dir, name), { recursive: true, mode: 0o700 })
    giveTo(launcher, join(dir, name))
    return join(dir, name)
  }
  const known = new Map<string, TestCluster>()
  const cluster = (name: string): TestCluster => {
    const made = known.get(name) ?? testCluster(home, name)
    known.set(name, made)
    return made
  }
  const home: ClusterHome = {
    dir,
    binaries,
    launcher,
    folder,
    cluster,
    init: async (name) => {
      await initCluster({ binaries, launcher, pgdata: join(dir, name), superuser })
      return cluster(name)
    },
    remove: async () => {
      await Promise.all([...known.values()].map((one) => one.end("SIGKILL")))
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return home
}

const testCluster = ({ dir, binaries, launcher, folder }: ClusterHome, name: string): TestCluster => {
  const pgdata = join(dir, name)
  const socketDir = folder(`${name}.s`)
  const logFile = join(dir, `${name}.log`)
  const running = () => {
    const file = readPostmasterPid(pgdata)
    return file === undefined
      ? Promise.resolve(undefined)
      : isServerOf(pgdata, file).then((is) => (is ? file : undefined))
  }
  /** False if it ended before it took connections: after a kill, the sessions left may hold its memory for a moment. */
  const tryStart = async (settings: Readonly<Record<string, string>>): Promise<boolean> => {
    const words = [...launcher.prefix, binaries.postgres, "-D", pgdata]
    const all = { ...SETTINGS, unix_socket_directories: socketDir, ...settings }
    for (const [key, value] of Object.entries(all)) words.push("-c", `${key}=${value}`)
    const log = openSync(logFile, "a")
    const child = spawn(words[0]!, words.slice(1), {
      cwd: "/",
      env: { ...process.env, ...binaries.env, LC_ALL: "C" },
      stdio: ["ignore", log, log],
      detached: true,
      ...launcher.identity,
    })
    closeSync(log)
    child.unref()
    let ended = false
    void once(child, "exit").then(() => (ended = true))
    while (!ended) {
      const file = readPostmasterPid(pgdata)
      if (file?.pid === child.pid && (file?.status === "ready" || file?.status === "standby")) return true
      await sleep(10)
    }
    return false
  }
  const url = (database: string) => databaseUrl(socketDir, ownerRole, database)
  const run = (statement: string, database = "postgres") =>
    runSql(databaseUrl(socketDir, superuser, database), statement)
  const createDatabase = async (database: string) => {
    const [role] = await run(`SELECT FROM pg_roles WHERE rolname = '${ownerRole}'`)
    if (role === undefined) await run(`CREATE ROLE ${ownerRole} LOGIN CREATEDB CREATEROLE`)
    await run(`CREATE DATABASE ${database} OWNER ${ownerRole} TEMPLATE template0`)
  }
  return {
    pgdata,
    socketDir,
    url,
    run,
    start: async (settings = {}) => {
      // A copy of the files has the copier's rights.
      chmodSync(pgdata, 0o700)
      giveTo(launcher, pgdata)
      for (let tries = 0; !(await tryStart(settings)); tries++) {
        if (tries === 20) throw new Error(`did not start: ${readFileSync(logFile, "utf8").slice(-2000)}`)
        await sleep(50)
      }
    },
    end: async (signal) => {
      const file = await running()
      if (file === undefined) return
      process.kill(file.pid, signal)
      while ((await running()) !== undefined) await sleep(10)
    },
    createDatabase,
    createCabinet: async (database) => {
      await createDatabase(database)
      await migrateTemplate(url(database))
    },
    resetWal: (words) => {
      const program = join(dirname(binaries.postgres), "pg_resetwal")
      if (!existsSync(program)) return false
      const [first, ...rest] = [...launcher.prefix, program, ...words, pgdata]
      const { status, stderr } = spawnSync(first!, rest, { cwd: "/", ...launcher.identity, encoding: "utf8" })
      if (status !== 0) throw new Error(`pg_resetwal: ${stderr}`)
      return true
    },
    copyTo: (other) => {
      const target = join(dir, other)
      const own = new Set(["postmaster.pid", "postmaster.opts"].map((file) => join(pgdata, file)))
      cpSync(pgdata, target, { recursive: true, filter: (source) => !own.has(source) })
      return target
    },
  }
}
