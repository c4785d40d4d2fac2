/** A standby server, set up from a base backup that is taken with the functions and copies of any backup program. */
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { ClusterHome, TestCluster } from "./cluster.ts"
import { databaseUrl, superuser } from "./postgresAdmin.ts"

/** Copies a running server's files under another name, as a base backup that a server can start from. */
export const baseBackup = async (home: ClusterHome, primary: TestCluster, name: string): Promise<void> => {
  const url = Redacted.make(databaseUrl(primary.socketDir, superuser, "postgres"))
  // A backup's start and stop have to be in the same session.
  const label = await Effect.gen(function* () {
    const connection = yield* (yield* PgClient.PgClient).reserve
    const ask = (text: string) => connection.execute(text, [], undefined)
    yield* ask("SELECT pg_backup_start('base', true)::text")
    primary.copyTo(name)
    const [stop] = (yield* ask("SELECT labelfile FROM pg_backup_stop(false)")) as ReadonlyArray<{ labelfile: string }>
    return stop!.labelfile
  }).pipe(Effect.scoped, Effect.provide(PgClient.layer({ url })), Effect.runPromise)
  writeFileSync(join(home.dir, name, "backup_label"), label)
}

/** Starts `name` from a backup as a standby of the primary, which has a slot of the same name. */
export const follow = async (home: ClusterHome, primary: TestCluster, backup: string, name: string) => {
  cpSync(join(home.dir, backup), join(home.dir, name), { recursive: true })
  writeFileSync(join(home.dir, name, "standby.signal"), "")
  const cluster = home.cluster(name)
  writeFileSync(
    join(home.dir, name, "postgresql.auto.conf"),
    `primary_conninfo = 'host=${primary.socketDir} user=${superuser}'\nprimary_slot_name = '${name}'\n`,
  )
  await cluster.start({ hot_standby: "on" })
  return cluster
}

/** Waits until the standby has everything that the primary has now. */
export const caughtUp = async (primary: TestCluster, follower: TestCluster): Promise<void> => {
  const [{ lsn }] = (await primary.run("SELECT pg_current_wal_flush_lsn()::text AS lsn")) as [{ lsn: string }]
  while ((await follower.run(`SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS is`))[0]!["is"] !== true) await sleep(20)
}

/** Cuts the standby off from its primary. */
export const cutLoose = async (follower: TestCluster): Promise<void> => {
  await follower.run("ALTER SYSTEM SET primary_conninfo = ''")
  await follower.run("SELECT pg_reload_conf()")
  while ((await follower.run("SELECT FROM pg_stat_wal_receiver")).length > 0) await sleep(20)
}
