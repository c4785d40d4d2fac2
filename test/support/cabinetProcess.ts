/**
 * Runs the command `cabinet` as a separate process, bundled as users run it, with no part replaced. `endAll` ends every
 * process started here, whatever the outcome of the test.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { compileCache, program, PROGRAM_FLAGS } from "./program.ts"

const PROGRAM = program(new URL("../../packages/cli/src/bin.ts", import.meta.url))

/** Removes variables of the tests' own environment that would affect a server. */
const OURS = /^(CABINET_|DATABASE_|LOG_|PORT$|HOST$|BASE_URL$|NODE_OPTIONS$|VITEST)/

const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name))),
  ...compileCache(),
  // No balancer needs time to notice here; the tests of draining set their own time.
  CABINET_DRAIN_TIME: "0",
  ...extra,
})

const running = new Set<ChildProcess>()

const run = (
  [node, ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  cwd: string,
): ChildProcess => {
  const child = spawn(node!, args, { cwd, env: environment(env) })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return child
}

const textOf = (child: ChildProcess, name: "stdout" | "stderr"): { readonly text: string } => {
  const collected = { text: "" }
  child[name]!.on("data", (chunk: Buffer) => (collected.text += chunk.toString()))
  return collected
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("close", (code) => resolve(code)))

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ServerProcess {
  readonly pid: number
  readonly baseUrl: string
  /** The JSON that it printed when it was ready. */
  readonly welcome: {
    readonly base_url: string
    readonly source: null | { readonly id: number; readonly intake_url: string; readonly intake_path: string }
    readonly key: null | { readonly key: string }
  }
  /** Everything it has logged so far. */
  readonly log: () => string
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>
}

export interface Home {
  readonly dir: string
  readonly dataDir: string
  /** Runs a command to its end, with `input` on its standard input. */
  readonly cabinet: (
    args: ReadonlyArray<string>,
    env?: Readonly<Record<string, string>>,
    input?: string,
  ) => Promise<CommandResult>
  /** Starts a command that keeps running. */
  readonly start: (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) => ChildProcess
  /** The program and environment, for a test that spawns it. */
  readonly commandLine: (args: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly environment: (env: Readonly<Record<string, string>>) => NodeJS.ProcessEnv
  /** Starts a server and waits until it is ready. */
  readonly serve: (args?: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) => Promise<ServerProcess>
}

const homes: Array<Pick<Home, "dir" | "dataDir" | "cabinet">> = []

/** Creates an empty data directory, for this version of the program or for the one of another file. */
export const newHome = (file = PROGRAM): Home => {
  const commandLine: Home["commandLine"] = (args) => [process.execPath, ...PROGRAM_FLAGS, file, ...args]
  const dir = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "dc-flow-"))
  // Under root the database runs as another user, who has to reach its own directory below.
  chmodSync(dir, 0o755)
  const dataDir = join(dir, ".cabinet")
  const start: Home["start"] = (args, env = {}) => run(commandLine(args), { CABINET_DATA_DIR: dataDir, ...env }, dir)
  const cabinet: Home["cabinet"] = async (args, env = {}, input = "") => {
    const child = start(args, env)
    // A command that reads no input may end before the input is written.
    child.stdin!.on("error", () => {})
    child.stdin!.end(input)
    const [stdout, stderr] = [textOf(child, "stdout"), textOf(child, "stderr")]
    const code = await exitOf(child)
    return { code, stdout: stdout.text, stderr: stderr.text }
  }
  const serve: Home["serve"] = async (args = [], env = {}) => {
    const child = start(["serve", "--json", ...(args.includes("--port") ? [] : ["--port", "0"]), ...args], env)
    const exited = exitOf(child)
    const log = textOf(child, "stderr")
    const line = await new Promise<string>((resolve, reject) => {
      let text = ""
      child.stdout!.on("data", (chunk: Buffer) => {
        text += chunk.toString()
        if (text.includes("\n")) resolve(text)
      })
      void exited.then((code) => reject(new Error(`the server ended with ${code}: ${log.text}`)))
    })
    const welcome = JSON.parse(line) as ServerProcess["welcome"]
    return {
      pid: child.pid!,
      baseUrl: welcome.base_url,
      welcome,
      log: () => log.text,
      stop: (signal) => {
        child.kill(signal)
        return exited
      },
    }
  }
  homes.push({ dir, dataDir, cabinet })
  return {
    dir,
    dataDir,
    cabinet,
    start,
    serve,
    commandLine,
    environment: (env) => environment({ CABINET_DATA_DIR: dataDir, ...env }),
  }
}

/** Ends all running processes, including databases left behind, and removes every directory. */
export const endAll = async (): Promise<void> => {
  await Promise.all(
    [...running].map((child) => {
      const exited = exitOf(child)
      child.kill("SIGKILL")
      return exited
    }),
  )
  for (const { dir, dataDir, cabinet } of homes.splice(0)) {
    // The last command to leave stops the embedded database, so joining it once more ends a leftover.
    if (existsSync(join(dataDir, "pgdata", "postmaster.pid"))) await cabinet(["migrate", "--json"])
    rmSync(dir, { recursive: true, force: true })
  }
}
