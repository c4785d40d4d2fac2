/**
 * Ensures that the server of a data directory runs, whatever state the last process left: nothing, a cluster at rest, a
 * live server (used as it is), one that is just starting or stopping (waited for), one that no longer responds
 * (stopped, then started), or the files of a crashed one (started; PostgreSQL recovers by itself). Its caller holds
 * `start.lock`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Binaries, chosenBinaries } from "./Binaries.ts"
import { clusterVersion, initCluster } from "./Cluster.ts"
import { type DataDir, readNote } from "./DataDir.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { clusterPassword, type Endpoint, endpointOf, listenSettings, nextEndpoint, type Transport } from "./Endpoint.ts"
import { machineMemory, memorySettings } from "./MachineMemory.ts"
import { reportsSettings } from "./ReportsAccess.ts"
import { startPostmaster, stopPostmaster } from "./Postmaster.ts"
import { accepts, isAlive, isServerOf, type PostmasterPid, readPostmasterPid } from "./PostmasterPid.ts"
import type { Launcher } from "./Unprivileged.ts"
import { byWorkingLauncher } from "./WorkingLauncher.ts"

export interface RunningServer {
  readonly server: PostmasterPid
  readonly endpoint: Endpoint
  /** How the server was obtained. */
  readonly origin: "found" | "started" | "created"
}

/** The superuser of every embedded cluster; the service itself never works as this role. */
export const superuser = "postgres"

const startTimeoutMillis = 120_000

/** Rejects with EmbeddedPostgresError. */
export const ensureRunning = async (
  dir: DataDir,
  transport: Transport,
  { bin, reportsPort }: { readonly bin?: string | undefined; readonly reportsPort?: number | null | undefined },
): Promise<RunningServer> => {
  const found = await findServer(dir)
  if (found !== undefined) return { server: found, endpoint: endpointOf(dir, found), origin: "found" }

  const binaries = chosenBinaries(bin, dir.linksDir)
  const version = clusterVersion(dir.pgdata)
  if (version !== undefined && version !== binaries.major) {
    throw new EmbeddedPostgresError({
      code: "incompatible",
      message: `The data in ${dir.pgdata} were created by PostgreSQL ${version}, and ${bin === undefined ? `this program ships ${binaries.major}` : `CABINET_POSTGRES_BIN names ${binaries.major}`}. Serve them with PostgreSQL ${version}: name its programs in CABINET_POSTGRES_BIN, or use the version of this program that created them; docs/operations.md says how to move them to another one. Nothing was changed.`,
    })
  }
  const origin = version === undefined ? "created" : "started"
  const running = await byWorkingLauncher(binaries, dir.root, (launcher) =>
    startServer(dir, { binaries, launcher, transport, reportsPort }),
  )
  return { ...running, origin }
}

/** Creates the cluster if it does not exist yet. */
const startServer = async (
  dir: DataDir,
  {
    binaries,
    launcher,
    ...listen
  }: {
    readonly binaries: Binaries
    readonly launcher: Launcher
    readonly transport: Transport
    readonly reportsPort: number | null | undefined
  },
) => {
  const { pgdata, logFile } = dir
  if (clusterVersion(pgdata) === undefined) {
    const password = clusterPassword(dir, listen.transport)
    await initCluster({ binaries, launcher, pgdata, superuser, ...(password === undefined ? {} : { password }) })
  }
  disownForeignPid(pgdata)
  const endpoint = await nextEndpoint(dir, launcher, listen)
  // Over TCP alone, every role has to prove its password, and the port is for all of them.
  const opensPort = endpoint.transport === "socket" && readNote(dir).reportsPort !== undefined
  const reports = opensPort ? reportsSettings(pgdata, superuser, launcher) : {}
  const start = () =>
    startPostmaster({
      binaries,
      launcher,
      pgdata,
      logFile,
      settings: { ...settings, ...memorySettings(pgdata, machineMemory()), ...listenSettings(endpoint), ...reports },
      startTimeoutMillis,
    })
  return { server: await againWhileShuttingDown(start), endpoint }
}

/** Other settings that an operator wants go into `pgdata/postgresql.conf`; these cannot be overridden there. */
const settings = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  // Customers' data must not end up in a log: no statements, no row contents.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
}

/** The live server of the data directory, ready for connections; one that does not become ready is stopped. */
const findServer = async (dir: DataDir): Promise<PostmasterPid | undefined> => {
  const deadline = Date.now() + startTimeoutMillis
  let silentSince: number | undefined
  for (;;) {
    const file = readPostmasterPid(dir.pgdata)
    if (file === undefined || !(await isServerOf(dir.pgdata, file))) return undefined
    if (file.status === "ready") {
      if (await accepts(file)) return file
      // Its socket may have been removed along with old temporary files; give it a moment, then restart it.
      silentSince ??= Date.now()
    }
    if (Date.now() > deadline || (silentSince !== undefined && Date.now() - silentSince > 3000)) {
      await stopPostmaster(dir.pgdata, file)
      return undefined
    }
    await sleep(50)
  }
}

/**
 * After a crash the pid file may name a process that is now an unrelated one, most often in a container, where few
 * process ids are in use; PostgreSQL would take it for a live server and refuse to start. It does not mistake its own
 * parent for one, so our process id is written there. The file is not removed, because its other lines let PostgreSQL
 * find out whether old server processes still use the data.
 */
const disownForeignPid = (pgdata: string): void => {
  const file = readPostmasterPid(pgdata)
  if (file === undefined || !isAlive(file.pid)) return
  const path = join(pgdata, "postmaster.pid")
  writeFileSync(path, readFileSync(path, "utf8").replace(/^\d+/u, String(process.pid)))
}

/** The children of a killed postmaster need a moment to notice; until then a new one is refused. */
const againWhileShuttingDown = async <A>(start: () => Promise<A>): Promise<A> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      const message = error instanceof EmbeddedPostgresError ? error.message : ""
      if (attempt >= 50 || !/shared memory block|lock file/u.test(message)) throw error
      await sleep(200)
    }
  }
}
