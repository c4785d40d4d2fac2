/**
 * Three PostgreSQL servers under Patroni with etcd, set up by the blocks of docs/high-availability.md. Each node stands for a
 * machine, with its own loopback address. They need Debian's packages, which `.ci/patroni` installs.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { candidates } from "@data-cabinet/store-pg/embedded/Unprivileged"

const page = readFileSync(new URL("../../docs/high-availability.md", import.meta.url), "utf8")

/** A block of the page that the tests run. */
export const block = (name: string): string => {
  const [, text = ""] = new RegExp(`<!-- run: ${name} -->\\s*\`\`\`\\w+\\n(.*?)\`\`\``, "s").exec(page) ?? []
  return text
}

const runs = (...words: [string, ...Array<string>]) => spawnSync(words[0], words.slice(1)).status === 0

/** The programs that the page uses: its `bin_dir` is PostgreSQL 15's. */
export const hasPatroni =
  process.platform === "linux" &&
  existsSync("/usr/lib/postgresql/15/bin/postgres") &&
  runs("patroni", "--version") &&
  runs("etcd", "--version") &&
  runs("psql", "--version")

const NAMES = ["one", "two", "three"] as const
export type NodeName = (typeof NAMES)[number]

interface Member {
  readonly name: NodeName
  readonly role: string
  readonly state: string
}

export interface PatroniNode {
  readonly name: NodeName
  /** Its processes: Patroni, and PostgreSQL with its children. */
  readonly signal: (what: "patroni" | "postgres" | "both", signal: NodeJS.Signals) => void
  /** Restarts Patroni, which starts PostgreSQL. */
  readonly start: () => void
  /** How many of the cabinet's events a session on this node sees; undefined while it refuses logins. */
  readonly events: () => Promise<number | undefined>
  /** Tries for `seconds` to commit something on this node; true if the commit was acknowledged. */
  readonly accepts: (seconds: number) => Promise<boolean>
}

export interface PatroniCluster {
  /** The URL that the page gives the cabinet's processes. */
  readonly url: string
  readonly nodes: ReadonlyArray<PatroniNode>
  /** Resolves with the leader once it is another than `old` and a standby confirms its commits. */
  readonly replaced: (old: PatroniNode) => Promise<PatroniNode>
  /** Resolves with the leader once there is one and both others stream from it. */
  readonly whole: () => Promise<PatroniNode>
  readonly log: () => string
  readonly remove: () => Promise<void>
}

/** The user that runs the nodes: PostgreSQL's own under root, otherwise the user of the tests. */
const identity = () => candidates().find(({ name }) => name === "user")?.identity

/** A process and its descendants, found in one pass, because this process also generates the load. */
const family = (root: number): ReadonlyArray<number> => {
  const { stdout } = spawnSync("ps", ["-Ao", "pid=,ppid="], { encoding: "utf8" })
  const all = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number))
  const below = (parent: number): ReadonlyArray<number> => [
    parent,
    ...all.filter(([, ppid]) => ppid === parent).flatMap(([pid]) => below(pid!)),
  ]
  return below(root)
}

const tell = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile.
  }
}

/** The interface between Patroni and etcd; the page describes both. */
const FORMS = {
  v2: { etcd: "etcd", patroni: "patroni" },
  v3: { etcd: "etcd3", patroni: "patroni with etcd3" },
} as const

export const startPatroni = async (form: keyof typeof FORMS = "v2"): Promise<PatroniCluster> => {
  const dir = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "dc-ha-"))
  chmodSync(dir, 0o755)
  const as = identity()
  // A network of the loopback that no other run uses.
  const [second, third] = randomBytes(2)
  const addresses = NAMES.map((_, at) => `127.${64 + (second! % 128)}.${third}.${at + 1}`)
  const [ONE, TWO, THREE] = addresses as [string, string, string]
  const password = () => randomBytes(8).toString("hex")
  const common = {
    PATH: process.env["PATH"]!,
    LC_ALL: "C.UTF-8",
    ONE,
    TWO,
    THREE,
    PATRONI_SUPERUSER_PASSWORD: password(),
    PATRONI_REPLICATION_PASSWORD: password(),
    PATRONI_REWIND_PASSWORD: password(),
    CABINET_PASSWORD: password(),
  }
  writeFileSync(join(dir, "patroni.yml"), block("patroni.yml"))
  const logFile = join(dir, "log")
  const log = openSync(logFile, "a")
  const running = new Set<ChildProcess>()
  const began = (name: "etcd" | "patroni", node: NodeName): ChildProcess => {
    const data = join(dir, node)
    if (!existsSync(data)) {
      mkdirSync(data, { mode: 0o700 })
      if (as !== undefined) chownSync(data, as.uid, as.gid)
    }
    const env = { ...common, NODE: node, HERE: addresses[NAMES.indexOf(node)]!, DATA: data }
    const child = spawn("sh", ["-euc", block(FORMS[form][name])], { cwd: dir, env, stdio: ["ignore", log, log], ...as })
    running.add(child)
    child.once("exit", () => running.delete(child))
    return child
  }
  /** Runs one statement as the superuser; undefined if it failed or took too long. */
  const ask = async (name: NodeName, database: string, statement: string, seconds = 5): Promise<string | undefined> => {
    const login = `host=${addresses[NAMES.indexOf(name)]!} user=postgres password=${common.PATRONI_SUPERUSER_PASSWORD}`
    const words = ["-XAtq", "-v", "ON_ERROR_STOP=1", `${login} dbname=${database} connect_timeout=2`, "-c", statement]
    const child = spawn("psql", words, { env: common, stdio: ["ignore", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), seconds * 1_000)
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    const [code] = (await once(child, "close")) as [number | null]
    clearTimeout(timer)
    return code === 0 ? text.trim() : undefined
  }

  const node = (name: NodeName): PatroniNode => {
    let patroni: ChildProcess
    const postmaster = () => {
      const file = join(dir, name, "postgres", "postmaster.pid")
      return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : undefined
    }
    const start = () => void (patroni = began("patroni", name))
    start()
    return {
      name,
      start,
      signal: (what, signal) => {
        const pid = postmaster()
        // Patroni first, so that it does not notice what happens to PostgreSQL.
        if (what !== "postgres" && patroni.pid !== undefined) tell(patroni.pid, signal)
        if (what !== "patroni" && pid !== undefined) for (const each of family(pid)) tell(each, signal)
      },
      events: async () => {
        const count = await ask(name, "cabinet", "SELECT count(*) FROM cabinet.event")
        return count === undefined ? undefined : Number(count)
      },
      accepts: async (seconds) =>
        (await ask(name, "cabinet", "UPDATE cabinet.clock SET shift = shift", seconds)) !== undefined,
    }
  }

  const etcds = NAMES.map((name) => began("etcd", name))
  const nodes = NAMES.map(node)
  /** Asks all nodes at the same time, because a paused one accepts a request and never responds. */
  const members = (): Promise<ReadonlyArray<Member>> =>
    Promise.any(
      addresses.map(async (address) => {
        const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        if (!answer.ok) throw new Error(`${answer.status}`)
        return ((await answer.json()) as { members: ReadonlyArray<Member> }).members
      }),
    ).catch(() => [])
  /** The node that holds the leader's key; undefined if no node reports a leader. */
  const leader = async () => {
    const found = (await members()).find(({ role }) => role === "leader")
    return nodes.find(({ name }) => name === found?.name)
  }
  const until = async <A>(what: string, look: () => Promise<A | undefined>): Promise<A> => {
    for (let tries = 0; tries < 600; tries++) {
      const found = await look()
      if (found !== undefined) return found
      await sleep(300)
    }
    throw new Error(`${what} did not come to be: ${readFileSync(logFile, "utf8").slice(-4_000)}`)
  }
  const standbys = async (name: NodeName, count: string) => Number((await ask(name, "postgres", count)) ?? 0)
  const SYNC = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"
  const ALL =
    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name IN ('one', 'two', 'three')"
  const whole = () =>
    until("a leader with two standbys", async () => {
      const found = await leader()
      if (found === undefined) return undefined
      const ready = (await standbys(found.name, ALL)) === 2 && (await standbys(found.name, SYNC)) > 0
      return ready ? found : undefined
    })
  const remove = async () => {
    for (const each of nodes) {
      each.signal("both", "SIGKILL")
      each.signal("both", "SIGCONT")
    }
    for (const child of etcds) child.kill("SIGKILL")
    for (const child of running) if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
  try {
    await whole()
    const made = spawnSync("sh", ["-euc", block("database")], { encoding: "utf8", env: common, timeout: 100_000 })
    if (made.status !== 0) throw new Error(`the database was not made: ${made.stderr}`)
  } catch (error) {
    await remove()
    throw error
  }
  const { stdout: url } = spawnSync("sh", ["-euc", `${block("address")}\nprintf %s "$DATABASE_URL"`], {
    encoding: "utf8",
    env: common,
  })
  return {
    url,
    nodes,
    replaced: (old) =>
      until("a new leader", async () => {
        const found = await leader()
        if (found === undefined || found === old) return undefined
        return (await standbys(found.name, SYNC)) > 0 ? found : undefined
      }),
    whole,
    log: () => readFileSync(logFile, "utf8"),
    remove,
  }
}
