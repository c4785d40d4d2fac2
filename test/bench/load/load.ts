/** Starts the load generator, on its own core if possible, and measures CPU between its two marks. */
import { spawn, spawnSync } from "node:child_process"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { cleanEnvironment } from "../contestant.ts"
import { processCpu } from "../processCpu.ts"

export interface LoadOrder {
  readonly port: number
  readonly connections: number
  /** Requests a second; null for a closed loop. */
  readonly rate: number | null
  readonly warmUp: number
  readonly seconds: number
  /** Whole requests, head and body, byte by byte; each connection sends them in turn. */
  readonly requests: ReadonlyArray<string>
  /** Whether refusals are counted instead of ending the run. */
  readonly mayRefuse?: boolean
  /** The secret for requests with a placeholder for a signature. */
  readonly secret?: string | undefined
  /** The first value of the counter that makes bodies differ. */
  readonly first: number
}

/** Latencies in milliseconds. */
export interface LoadResult {
  readonly done: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly seconds: number
  readonly bytes: number
  readonly next: number
  readonly median: number
  readonly p99: number
  readonly most: number
  /** How late the generator itself was at most, if paced: what the machine withheld from it. */
  readonly late: number
  /** Requests that were due and found no connection by the end. */
  readonly waiting: number
}

/** Latencies are 0 if none were measured. */
export interface Measured extends Pick<
  LoadResult,
  "done" | "failures" | "firstFailure" | "seconds" | "median" | "p99" | "most" | "late"
> {
  /** Requests a second. */
  readonly rate: number
  /** Microseconds of CPU a request. */
  readonly cpu: { readonly server: number; readonly database: number; readonly load: number }
}

const GENERATOR = fileURLToPath(new URL("./generator.ts", import.meta.url))

const cores = availableParallelism()
export const pinned = cores > 1 && spawnSync("taskset", ["-c", String(cores - 1), "true"]).status === 0
const PIN = pinned ? ["taskset", "-c", String(cores - 1)] : []

/** No two rounds of a run send the same body. */
let counter = 1

export const load = async (
  order: Omit<LoadOrder, "first">,
  server: { readonly name: string; readonly pid: number },
  databaseCpu: () => number,
): Promise<Measured> => {
  const words = [...PIN, process.execPath, GENERATOR]
  const child = spawn(words[0]!, words.slice(1), { env: cleanEnvironment(), stdio: ["pipe", "pipe", "inherit"] })
  // The exit code reports a generator that ends before it has read its orders.
  child.stdin.on("error", () => {})
  child.stdin.end(`${JSON.stringify({ ...order, first: counter })}\n`)
  const sample = () => ({ server: processCpu(server.pid), database: databaseCpu(), load: processCpu(child.pid!) })
  let before = sample()
  let after = before
  let text = ""
  let seen = 0
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString()
    if (seen === 0 && text.includes("begin\n")) {
      seen = 1
      before = sample()
    }
    if (seen === 1 && text.includes("end\n")) {
      seen = 2
      after = sample()
    }
  })
  await new Promise((resolve) => child.once("close", resolve))
  const last = text.trimEnd().split("\n").at(-1)
  if (child.exitCode !== 0 || last === undefined) throw new Error(`the load on ${server.name} broke off`)
  const result = JSON.parse(last) as LoadResult
  counter = result.next
  if (result.failures > 0 && order.mayRefuse !== true) {
    throw new Error(
      `${server.name} refused ${result.failures} of ${result.done + result.failures}: ${result.firstFailure}`,
    )
  }
  const each = (now: number, then: number) => ((now - then) * 1000) / result.done
  return {
    ...result,
    rate: result.done / result.seconds,
    cpu: {
      server: each(after.server, before.server),
      database: each(after.database, before.database),
      load: each(after.load, before.load),
    },
  }
}
