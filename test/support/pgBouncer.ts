/**
 * Debian's PgBouncer, if `.ci/pgbouncer` has installed it, in front of a test's own cluster. It accepts the given users
 * without a password.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { giveTo } from "@data-cabinet/store-pg/embedded/Unprivileged"
import type { ClusterHome, TestCluster } from "./cluster.ts"
import { freePorts } from "./packed.ts"

const PROGRAM = ["/usr/sbin/pgbouncer", "pgbouncer"].find((name) => spawnSync(name, ["--version"]).status === 0)

export const hasPgBouncer = PROGRAM !== undefined

export interface PgBouncer {
  /** The URL of a database through PgBouncer. */
  readonly url: (role: string, database: string) => string
  readonly end: () => Promise<void>
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => (socket.destroy(), resolve(true)))
    socket.once("error", () => resolve(false))
  })

/** `settings` are those of `pgbouncer.ini`. It connects to the cluster's socket. */
export const startPgBouncer = async (
  home: ClusterHome,
  cluster: TestCluster,
  users: ReadonlyArray<string>,
  settings: Readonly<Record<string, string | number>>,
  clusterPort = 5432,
): Promise<PgBouncer> => {
  const port = (await freePorts(1))[0]!
  const dir = home.folder(`pgbouncer-${port}`)
  writeFileSync(join(dir, "users"), users.map((user) => `"${user}" ""\n`).join(""))
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: join(dir, "users"),
    logfile: join(dir, "log"),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`)
  writeFileSync(
    join(dir, "ini"),
    `[databases]\n* = host=${cluster.socketDir} port=${clusterPort}\n[pgbouncer]\n${lines.join("")}`,
  )
  giveTo(home.launcher, dir)
  const words = [...home.launcher.prefix, PROGRAM!, "-q", join(dir, "ini")]
  const child: ChildProcess = spawn(words[0]!, words.slice(1), { cwd: "/", stdio: "ignore", ...home.launcher.identity })
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`)
    await sleep(20)
  }
  return {
    url: (role, database) => `postgres://${role}@127.0.0.1:${port}/${database}`,
    end: async () => {
      child.kill("SIGKILL")
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    },
  }
}
