/**
 * The package as a consumer gets it: packed, and installed by npm into an empty program outside this workspace. This is done
 * once per test run, in the folder of the run's cluster, and removed with it.
 */
import { execFile, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createRequire } from "node:module"
import { type AddressInfo, createServer, type Server } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { inject } from "vitest"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))
const run = promisify(execFile)

export interface Packed {
  /** The program's folder, with `node_modules` and the examples. */
  readonly app: string
  /** The packed package. */
  readonly tarball: string
}

/** A consumer's environment, without the conditions and settings of the tests. */
export const consumerEnv = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|pnpm_|CABINET_|DATABASE_|LOG_|PORT$|HOST$|BASE_URL$|NODE_OPTIONS$|NODE_ENV$|VITEST|CI$)/i.test(name),
  )
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`
  return { ...Object.fromEntries(kept), PATH: path, ...extra }
}

/** Runs a program to its end; rejects with everything it printed. */
export const finish = async (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> => {
  try {
    const { stdout } = await run(command, args, { cwd, env: consumerEnv(env), maxBuffer: 16_777_216, timeout: 240_000 })
    return stdout
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string }
    throw new Error(`${message}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** The first test file that needs the package does the work, and the others wait for it. */
export const packed = async (): Promise<Packed> => {
  const home = join(dirname(inject("postgresSocketDir")), "packed")
  const done = join(home, "done")
  const app = join(home, "app")
  const tarballs = join(home, "tarballs")
  if (mkdirSync(home, { recursive: true }) !== undefined) {
    let outcome = ""
    try {
      await build(app, tarballs)
    } catch (error) {
      outcome = error instanceof Error ? error.message : String(error)
    }
    writeFileSync(done, outcome)
  }
  while (!existsSync(done)) await sleep(50)
  const outcome = readFileSync(done, "utf8")
  if (outcome !== "") throw new Error(outcome)
  return { app, tarball: tarballIn(tarballs) }
}

const tarballIn = (folder: string): string => join(folder, readdirSync(folder)[0]!)

const build = async (app: string, tarballs: string): Promise<void> => {
  for (const folder of [app, tarballs]) mkdirSync(folder)
  // If everything is up to date, the compiler has little to do.
  await finish(process.execPath, [join(ROOT, "scripts/build.mjs")], ROOT)
  await finish(process.execPath, [join(ROOT, "scripts/package.mjs"), tarballs], ROOT)
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline"]
  await finish("npm", [...install, tarballIn(tarballs), ...consumerPackages()], app)
  cpSync(join(ROOT, "examples"), join(app, "examples"), {
    recursive: true,
    filter: (source) => !/node_modules|package\.json$|\.test\.ts$/.test(source.slice(ROOT.length)),
  })
}

/** The examples' other dependencies, in the versions of this workspace. */
const consumerPackages = (): ReadonlyArray<string> => {
  const manifest = (path: string) =>
    JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Record<string, Record<string, string>>
  const examples = manifest("examples/package.json")
  const wanted = { ...examples["dependencies"], ...examples["devDependencies"] }
  const types = manifest("package.json")["devDependencies"]!["@types/node"]!
  return [
    ...Object.entries(wanted).flatMap(([name, version]) =>
      version.startsWith("workspace:") ? [] : [`${name}@${version}`],
    ),
    `@types/node@${types}`,
  ]
}

/** The compiler of a TypeScript version, as a script for Node. */
export const compiler = (version: 5 | 7): string => {
  const from = createRequire(join(ROOT, version === 5 ? "test/package.json" : "package.json"))
  return join(dirname(from.resolve(version === 5 ? "typescript5/package.json" : "typescript/package.json")), "bin/tsc")
}

export interface Running {
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Signals it to end, waits, and returns its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Other runtimes, as npm brings them, and the words before a program's name. */
export const RUNTIMES = {
  Bun: { npm: "bun@1.4.5", words: ["run"] },
  Deno: { npm: "deno@2.9.6", words: ["run", "--allow-all"] },
} as const

const started = new Set<() => void>()

/** Starts a program of the consumer, and waits until it prints that it is ready. */
export const start = async (
  script: string,
  ready: RegExp,
  app: string,
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string> = [],
  [command, ...words]: readonly [string, ...ReadonlyArray<string>] = [process.execPath],
): Promise<Running> => {
  const child = spawn(command, [...words, script, ...args], { cwd: app, env: consumerEnv(env) })
  const kill = () => void child.kill("SIGKILL")
  started.add(kill)
  let text = ""
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      started.delete(kill)
      resolve(code)
    })
  })
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      text += chunk.toString()
      if (ready.test(text)) resolve()
    }
    child.stdout.on("data", collect)
    child.stderr.on("data", collect)
    void ended.then((code) => reject(new Error(`${script} ended with ${code}: ${text}`)))
  })
  return {
    output: () => text,
    stop: () => {
      child.kill("SIGTERM")
      return ended
    },
  }
}

/** For `afterAll`: ends programs that a failed test left running. */
export const stopAll = (): void => {
  for (const kill of started) kill()
}

/**
 * Returns a port that is followed by as many free ports as requested. It is below the range from which the system assigns
 * ports, so that another program is unlikely to take one first; if one does, the test fails with a message.
 */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  for (;;) {
    const probes: Array<Server> = []
    try {
      const first = await listenOn(randomInt(20_000, 30_000), probes)
      const ports = [first]
      while (ports.length < count) ports.push(await listenOn(first + ports.length, probes))
      return ports
    } catch {
      // One of them is taken, so another range is tried.
    } finally {
      for (const probe of probes) probe.close()
    }
  }
}

const listenOn = async (port: number, probes: Array<Server>): Promise<number> => {
  const probe = createServer()
  probes.push(probe)
  probe.listen(port, "127.0.0.1")
  await once(probe, "listening")
  return (probe.address() as AddressInfo).port
}
