/**
 * The one PostgreSQL of a run: the embedded cabinet's binaries and settings, durable, in a directory of its own. Every
 * contestant gets a database in it.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { startPostmaster, stopPostmaster } from "@data-cabinet/store-pg/embedded/Postmaster"
import { giveTo } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { byWorkingLauncher } from "@data-cabinet/store-pg/embedded/WorkingLauncher"
import { Client } from "pg"
import { treeCpu } from "./processCpu.ts"

/** Printed beside the results. */
export const SETTINGS = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" }

const OWNER = "bench"

export interface Cluster {
  readonly version: string
  /** Recreates a database and returns its address. */
  readonly database: (name: string) => Promise<string>
  /** Runs statements, one after the other, as the owner; answers the rows of the last. */
  readonly run: (url: string, ...statements: ReadonlyArray<string>) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** Writes out what earlier rounds left to be written, so that no round pays for another's. */
  readonly settle: () => Promise<void>
  /** Milliseconds of CPU that all of its processes have used. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

export const startCluster = async (): Promise<Cluster> => {
  // Short: a unix socket's path holds 107 bytes.
  const home = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "dc-bench-"))
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    return await clusterIn(home, remove)
  } catch (error) {
    remove()
    throw error
  }
}

const clusterIn = async (home: string, remove: () => void): Promise<Cluster> => {
  chmodSync(home, 0o755)
  const pgdata = join(home, "pgdata")
  const binaries = shippedBinaries(join(home, "lib"))
  const socketDir = mkdtempSync(join(home, "s-"))
  const server = await byWorkingLauncher(binaries, home, async (launcher) => {
    rmSync(pgdata, { recursive: true, force: true })
    await initCluster({ binaries, launcher, pgdata, superuser: "postgres" })
    giveTo(launcher, socketDir)
    return startPostmaster({
      binaries,
      launcher,
      pgdata,
      logFile: join(home, "postgres.log"),
      settings: {
        ...SETTINGS,
        timezone: "UTC",
        log_min_messages: "warning",
        listen_addresses: "",
        unix_socket_directories: socketDir,
      },
      startTimeoutMillis: 60_000,
    })
  })
  const url = (role: string, database: string) =>
    `postgres://${role}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
  const run: Cluster["run"] = async (address, ...statements) => {
    const client = new Client({ connectionString: address })
    await client.connect()
    try {
      let rows: ReadonlyArray<Record<string, unknown>> = []
      for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows
      return rows
    } finally {
      await client.end()
    }
  }
  const admin = url("postgres", "postgres")
  const stop = async () => {
    await stopPostmaster(pgdata, server)
    remove()
  }
  try {
    await run(admin, `CREATE ROLE ${OWNER} LOGIN CREATEDB CREATEROLE`, `GRANT pg_checkpoint TO ${OWNER}`)
    const [row] = await run(admin, "SHOW server_version")
    return {
      version: String(row!["server_version"]),
      database: async (name) => {
        await run(
          admin,
          `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
          `CREATE DATABASE ${name} OWNER ${OWNER} TEMPLATE template0`,
        )
        return url(OWNER, name)
      },
      run,
      settle: async () => void (await run(admin, "CHECKPOINT")),
      cpu: () => treeCpu(server.pid),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
