/**
 * A contestant is a server process: ours, as shipped, or a yardstick. The first line of its output says where it
 * listens. The process that started a contestant also ends it, by its process id.
 */
import { type ChildProcess, spawn } from "node:child_process"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { orderJson } from "./load/request.ts"
import { shippedCabinet } from "./shipped.ts"

export interface Contestant {
  readonly name: string
  readonly pid: number
  readonly port: number
  /** The first line of its output. */
  readonly said: unknown
  /** Sends it a line of JSON and waits for its response; only for contestants that read lines. */
  readonly ask: (what: unknown) => Promise<unknown>
  /** Waits for the next line that it prints unprompted. */
  readonly hear: () => Promise<unknown>
  readonly stop: () => Promise<void>
}

const OURS = /^(CABINET_|DATABASE_|LOG_|PORT$|HOST$|BASE_URL$|NODE_OPTIONS$)/

/** Variables of the measuring environment that would affect a contestant. */
export const cleanEnvironment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name))),
  NODE_ENV: "production",
  ...extra,
})

const running = new Set<ChildProcess>()
// An interrupted figure may have just started one.
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")))

/** Node's own flags for every contestant of a run, such as `--cpu-prof`; for finding out, not for measuring. */
const nodeFlags = (name: string): ReadonlyArray<string> => {
  const profiled = process.env["BENCH_PROFILE"]
  return profiled === name ? ["--cpu-prof", "--cpu-prof-dir=bench-profile"] : []
}

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()))

/** Ends it like Ctrl-C, because after SIGTERM a cabinet waits for its balancer to notice. */
const end = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGINT")
  await exited(child)
}

/** Starts `cabinet`, or a program of this folder from the sources, and waits for its first line, which is JSON. */
const start = async (name: string, words: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [...nodeFlags(name), ...words], {
    env: cleanEnvironment(env),
    stdio: ["pipe", "pipe", "inherit"],
  })
  running.add(child)
  child.once("exit", () => running.delete(child))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const nextLine = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done === true) throw new Error(`${name} ended before it answered`)
    return JSON.parse(line.value)
  }
  const said = await nextLine()
  const ask = (what: unknown) => {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    return nextLine()
  }
  return { pid: child.pid!, said, ask, hear: nextLine, stop: () => end(child) }
}

/** A yardstick: `test/bench/yardstick/<file>.ts`, which gets its database in DATABASE_URL. */
export const yardstick = async (
  name: string,
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Contestant> => {
  const path = fileURLToPath(new URL(`./yardstick/${file}.ts`, import.meta.url))
  const { said, ...process } = await start(name, ["--conditions=source", path], env)
  return { name, ...process, said, port: (said as { port?: number }).port ?? 0 }
}

/**
 * The same program took 22 or 51 µs depending on which of its processes was measured. Rounds over three processes
 * depend on neither.
 */
const PROCESSES = 3

/** A yardstick of several processes, which take turns from round to round. */
export interface Yardstick extends Contestant {
  readonly processes: ReadonlyArray<Contestant>
}

/** `env` gives the environment of each process, by its number. */
export const yardsticks = async (
  name: string,
  file: string,
  env: (number: number) => Promise<Readonly<Record<string, string>>>,
): Promise<Yardstick> => {
  const numbers = Array.from({ length: PROCESSES }, (_, number) => number)
  const processes = await Promise.all(numbers.map(async (number) => yardstick(name, file, await env(number))))
  return {
    ...processes[0]!,
    processes,
    stop: async () => void (await Promise.all(processes.map((one) => one.stop()))),
  }
}

export interface OurServer extends Contestant {
  /** Of the first source. */
  readonly intakePath: string
  readonly key: string
}

/** Rates that one client in a closed loop cannot reach, so that requests are counted but never refused. */
export const RATES = { CABINET_INTAKE_RATE: "10000000", CABINET_API_RATE: "1000000" }

/** `cabinet serve` as shipped, on an empty database; `program` names another build of the command. */
export const ourServer = async (
  url: string,
  more: ReadonlyArray<string> = [],
  name = "ours",
  program = shippedCabinet(),
): Promise<OurServer> => {
  const args = ["serve", "--json", "--port", "0", "--log-level", "warn", ...more]
  const { said, ...process } = await start(name, [program, ...args], { ...RATES, DATABASE_URL: url })
  const welcome = said as { base_url: string; source: { intake_path: string } | null; key: { key: string } | null }
  return {
    name,
    ...process,
    said,
    port: Number(new URL(welcome.base_url).port),
    intakePath: welcome.source?.intake_path ?? "",
    key: welcome.key?.key ?? "",
  }
}

/** One event the usual way: the table has its columns then, and the feed its epoch. */
export const postOne = async ({ port, intakePath }: OurServer): Promise<void> => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(`http://127.0.0.1:${port}${intakePath}`, { method: "POST", headers, body: orderJson() })
  if (!answer.ok) throw new Error(`intake answered ${answer.status}`)
}

/** A program without output for us. */
const startSilent = (name: string, words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(words[0]!, words.slice(1), { env: cleanEnvironment(env), stdio: ["ignore", "ignore", "inherit"] })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return { name, pid: child.pid!, stop: () => end(child), hasEnded: () => child.exitCode !== null }
}

/** `cabinet worker` as shipped: deliveries without HTTP. */
export const ourWorker = async (
  url: string,
  name = "ours",
  more: ReadonlyArray<string> = [],
  program = shippedCabinet(),
) => {
  const args = ["worker", "--log-level", "warn", "--database-url", url, "--allowed-networks", "127.0.0.0/8", ...more]
  return startSilent(name, [process.execPath, ...nodeFlags(name), program, ...args])
}

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * PostgREST, the program at `binary`, over the public schema; ready when it responds. It checks no key and counts
 * nothing, which favours it.
 */
export const postgrest = async (binary: string, url: string) => {
  const port = await freePort()
  const server = startSilent("PostgREST", [binary], {
    PGRST_DB_URI: url,
    PGRST_DB_SCHEMAS: "public",
    PGRST_DB_ANON_ROLE: new URL(url).username,
    PGRST_DB_POOL: "8",
    PGRST_SERVER_HOST: "127.0.0.1",
    PGRST_SERVER_PORT: String(port),
    PGRST_LOG_LEVEL: "error",
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ready) return { ...server, port }
    if (server.hasEnded()) throw new Error(`${binary} ended before it answered`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Runs one command of `cabinet` to its end and returns its JSON. */
export const cabinetCommand = (url: string, ...args: ReadonlyArray<string>): Promise<unknown> =>
  runCommand(shippedCabinet(), url, ...args)

/** The same with another build of the command. */
export const runCommand = async (program: string, url: string, ...args: ReadonlyArray<string>): Promise<unknown> => {
  const child = spawn(process.execPath, [program, ...args, "--json"], {
    env: cleanEnvironment({ DATABASE_URL: url }),
    stdio: ["ignore", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
  await new Promise((resolve) => child.once("close", resolve))
  if (child.exitCode !== 0) throw new Error(`cabinet ${args.join(" ")} ended with ${child.exitCode}`)
  return JSON.parse(text)
}

/** Ends programs that a failed figure left behind. */
export const endContestants = async (): Promise<void> => {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill("SIGKILL")
      await exited(child)
    }),
  )
}
