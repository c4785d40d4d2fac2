/**
 * Separate PostgreSQL servers for tests that kill, copy, set back, follow or promote one. They write without flushing to
 * the disk, which loses nothing when only a process is killed.
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

/** A folder for clusters, removed with its content at the end. */
export interface ClusterHome {
  readonly dir: string
  readonly binaries: Binaries
  readonly launcher: Launcher
  /** Creates a subfolder that servers can write to. */
  readonly folder: (name: string) => string
  /** Creates an empty cluster. */
  readonly init: (name: string) => Promise<TestCluster>
  /** Opens the cluster whose files are already in `<name>`. */
  readonly cluster: (name: string) => TestCluster
  /** Ends the remaining servers and removes the folder. */
  readonly remove: () => Promise<void>
}

export interface TestCluster {
  readonly pgdata: string
  readonly socketDir: string
  /** Starts the server and waits until it accepts connections; a standby as well. */
  readonly start: (settings?: Readonly<Record<string, string>>) => Promise<void>
  /** `SIGINT` shuts down fast, `SIGKILL` crashes; waits until no process uses the files. */
  readonly end: (signal: "SIGINT" | "SIGKILL") => Promise<void>
  /** The URL of a database, as its owner. */
  readonly url: (database: string) => string
  /** Runs one statement as the superuser. */
  readonly run: (statement: string, database?: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Creates an empty database that belongs to the owner. */
  readonly createDatabase: (database: string) => Promise<void>
  /** Creates a migrated database. */
  readonly createCabinet: (database: string) => Promise<void>
  /** Runs `pg_resetwal` on the stopped server; false if the binaries lack it. */
  readonly resetWal: (words: ReadonlyArray<string>) => boolean
  /** Copies the current files under another name, without those that belong to the running server. */
  readonly copyTo: (name: string) => string
}

/** The launcher of the suite's own server, which is known to work. */
export const suiteLauncher = (): Launcher => candidates().find(({ name }) => name === inject("postgresLauncher"))!

/** `bin` is a folder with other binaries than the suite's. */
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
  /** False if it ended before accepting connections: after a kill, remaining sessions may hold its memory for a moment. */
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
      // Copied files are owned by the user who copied them.
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
