/**
 * Runs PostgreSQL with the first launcher that works. A launcher works if a server starts with it and responds; a
 * program that prints its version proves nothing, because a server also has to find the files around it, which the
 * directories above may forbid. So the work itself is the attempt. If it fails, a trial cluster shows whether the
 * launcher was the cause: if so, the next one is tried; otherwise the failure is the work's own.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import type { Binaries } from "./Binaries.ts"
import { initCluster } from "./Cluster.ts"
import { EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import { startPostmaster, stopPostmaster } from "./Postmaster.ts"
import { makeSocketDir } from "./SocketDir.ts"
import { candidates, giveTo, type Launcher, probe } from "./Unprivileged.ts"

/** The launchers that have worked for a directory in this process: a later failure is not theirs, and costs no trial. */
const proven = new Set<string>()

/**
 * Returns the result of `work` with the first launcher that works; `work` may be called again after a failure. Rejects
 * with `no_unprivileged_user` (root) or `no_binaries` if none works, and with the work's own failure otherwise.
 */
export const byWorkingLauncher = async <A>(
  binaries: Binaries,
  dir: string,
  work: (launcher: Launcher) => Promise<A>,
  among: ReadonlyArray<Launcher> = candidates(),
): Promise<A> => {
  const reasons: Array<string> = []
  for (const launcher of among) {
    const fault = probe(launcher, binaries.postgres, binaries.env, dir)
    if (fault !== undefined) {
      reasons.push(`${launcher.name}: ${fault}`)
      continue
    }
    const key = JSON.stringify([launcher.name, binaries.postgres, dir])
    try {
      const done = await work(launcher)
      proven.add(key)
      return done
    } catch (error) {
      if (launcher.name === "direct" || proven.has(key) || !mayBeTheLaunchers(error)) throw error
      const reason = await trial(launcher, binaries, dir)
      if (reason === undefined) {
        proven.add(key)
        throw error
      }
      reasons.push(`${launcher.name}: ${reason}`)
    }
  }
  throw noneWorks(reasons, binaries, dir, among)
}

/** A full disk would fail every trial as well, and be reported as something else. */
const mayBeTheLaunchers = (error: unknown): boolean =>
  error instanceof EmbeddedPostgresError &&
  (error.code === "init_failed" || error.code === "start_failed") &&
  !/No space left|quota exceeded/iu.test(error.message)

/** Starts a trial cluster and queries it; undefined if it responds. */
const trial = async (launcher: Launcher, binaries: Binaries, dir: string): Promise<string | undefined> => {
  const place = mkdtempSync(join(dir, "trial-"))
  const pgdata = join(place, "pgdata")
  const socketDir = makeSocketDir()
  try {
    giveTo(launcher, place)
    giveTo(launcher, socketDir)
    await initCluster({ binaries, launcher, pgdata, superuser: "postgres" })
    const server = await startPostmaster({
      binaries,
      launcher,
      pgdata,
      logFile: join(place, "log"),
      settings: { listen_addresses: "", unix_socket_directories: socketDir, fsync: "off", shared_buffers: "1MB" },
      startTimeoutMillis: 30_000,
    })
    try {
      await connect(`postgres://postgres@localhost/postgres?host=${encodeURIComponent(socketDir)}`)
    } finally {
      await stopPostmaster(pgdata, server)
    }
    return undefined
  } catch (error) {
    // Its reference to its log is of no use: the log is gone.
    return (error as Error).message.replace(/ Its whole log is .*$/su, "")
  } finally {
    rmSync(place, { recursive: true, force: true })
    rmSync(socketDir, { recursive: true, force: true })
  }
}

const connect = (url: string): Promise<unknown> =>
  PgClient.PgClient.use((sql) => sql`SELECT 1`).pipe(
    Effect.provide(SessionPool.layer({ url, maxConnections: 1, connectTimeout: "10 seconds", settings: unlimited })),
    // Before there is a log; what goes wrong is returned.
    // oxlint-disable-next-line no-restricted-properties
    Effect.runPromise,
  )

const noneWorks = (
  reasons: ReadonlyArray<string>,
  binaries: Binaries,
  dir: string,
  among: ReadonlyArray<Launcher>,
): EmbeddedPostgresError => {
  const why = reasons.map((reason) => reason.replace(/\.$/u, "")).join("; ")
  if (among[0]?.name === "direct") {
    return new EmbeddedPostgresError({
      code: "no_binaries",
      message: `The bundled PostgreSQL does not run here (${why}). Set DATABASE_URL to a PostgreSQL 15 to 18 of your own.`,
    })
  }
  const closed = [...new Set([binaries.postgres, join(dir, "pgdata")].flatMap((path) => closedAbove(path) ?? []))]
  const cure =
    closed.length === 0
      ? "Start as an ordinary user"
      : `Only root may enter ${closed.join(" and ")}: move the program and its data directory to where other users can reach them, such as below /opt or /srv, or start as an ordinary user`
  return new EmbeddedPostgresError({
    code: "no_unprivileged_user",
    message: `PostgreSQL refuses to run as root, and no other way of running it works here (${why}). ${cure}, or set DATABASE_URL to a PostgreSQL of your own.`,
  })
}

/** The topmost directory above that other users cannot traverse. */
const closedAbove = (path: string): string | undefined => {
  const above: Array<string> = []
  for (let at = path; dirname(at) !== at;) above.unshift((at = dirname(at)))
  return above.find((at) => ((statSync(at, { throwIfNoEntry: false })?.mode ?? 0o001) & 0o001) === 0)
}
