/**
 * One throw-away PostgreSQL for a whole test run, started before the first file
 * and stopped after the last. It has a template database, migrated once, that
 * test files clone (see postgres.ts).
 *
 * `TEST_PG_BIN=/usr/lib/postgresql/15/bin` runs the suite on that version instead
 * of the one that npm installed.
 *
 * It writes without fsync: nothing here outlives the run, and crashes of the
 * *server process* (which the fault tests cause on clusters of their own) do not
 * need it; only a power cut would.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { binariesIn, shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { startPostmaster, stopPostmaster } from "@data-cabinet/store-pg/embedded/Postmaster"
import { giveTo, type Launcher } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { byWorkingLauncher } from "@data-cabinet/store-pg/embedded/WorkingLauncher"
import { migrateTemplate } from "./migrateTemplate.ts"
import { databaseUrl, ownerRole, runSql, superuser, templateDatabase } from "./postgresAdmin.ts"

interface RunningCluster {
  readonly socketDir: string
  readonly major: number
  readonly launcher: Launcher["name"]
  readonly stop: () => Promise<void>
}

/** The run's cluster and how many projects use it, because each project loads this module separately. */
const shared = ((globalThis as { testCluster?: { users: number; running?: Promise<RunningCluster> } }).testCluster ??= {
  users: 0,
})

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.users++
  const cluster = await (shared.running ??= start())
  project.provide("postgresSocketDir", cluster.socketDir)
  project.provide("postgresMajor", cluster.major)
  project.provide("postgresLauncher", cluster.launcher)
  return async () => {
    if (--shared.users > 0) return
    delete shared.running
    await cluster.stop()
  }
}

const start = async (): Promise<RunningCluster> => {
  // A short path, outside a deep TMPDIR, because a unix socket's path has at most 107 bytes.
  const home = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "dc-test-"))
  chmodSync(home, 0o755)
  const pgdata = join(home, "pgdata")
  const bin = process.env["TEST_PG_BIN"]
  const binaries = bin === undefined || bin === "" ? shippedBinaries(join(home, "lib")) : binariesIn(bin)
  const socketDir = mkdtempSync(join(home, "s-"))
  const { server, way } = await byWorkingLauncher(binaries, home, async (launcher) => {
    rmSync(pgdata, { recursive: true, force: true })
    await initCluster({ binaries, launcher, pgdata, superuser })
    giveTo(launcher, socketDir)
    const started = await startPostmaster({
      binaries,
      launcher: dyingWithUs(launcher),
      pgdata,
      logFile: join(home, "postgres.log"),
      settings: {
        listen_addresses: "",
        unix_socket_directories: socketDir,
        fsync: "off",
        synchronous_commit: "off",
        full_page_writes: "off",
        max_connections: "400",
        shared_buffers: "128MB",
        max_wal_size: "1GB",
        autovacuum_naptime: "10s",
        log_min_messages: "warning",
      },
      startTimeoutMillis: 60_000,
    })
    return { server: started, way: launcher.name }
  })
  const stop = async () => {
    await stopPostmaster(pgdata, server)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const admin = databaseUrl(socketDir, superuser, "postgres")
    await runSql(admin, `CREATE ROLE ${ownerRole} LOGIN CREATEDB CREATEROLE`)
    await runSql(admin, `CREATE DATABASE ${templateDatabase} OWNER ${ownerRole} TEMPLATE template0`)
    await migrateTemplate(databaseUrl(socketDir, ownerRole, templateDatabase))
  } catch (error) {
    await stop()
    throw error
  }
  return { socketDir, major: binaries.major, launcher: way, stop }
}

/** Makes the system end the server when the test run is killed, where it can. */
export const dyingWithUs = (launcher: Launcher): Launcher => {
  const words = ["setpriv", "--pdeathsig", "INT", "--"]
  const works = spawnSync(words[0]!, [...words.slice(1), "true"]).status === 0
  return works ? { ...launcher, prefix: [...launcher.prefix, ...words] } : launcher
}
