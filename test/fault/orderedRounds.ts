/**
 * Rounds of kills, stops and lost connections over several processes that serve addresses in order, while events are
 * accepted. Each receiver's log says what came, and the rules are checked on it: no gap, nothing out of order, and repeats
 * only where a process was disturbed.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"

const WORKER = program(new URL("orderedWorker.ts", import.meta.url))

/** How a process is disturbed. */
export const DISTURBANCES = ["kill", "stop", "connections"] as const
export type Disturbance = (typeof DISTURBANCES)[number]

/** The lease of a worker, in which it sends for a second, however long the receiver takes. */
const LEASE_MILLIS = 5_000
const STOPPED_MILLIS = 5_600

const pause = (millis: number) => new Promise((done) => setTimeout(done, millis))

/** Processes that serve one database. */
export class OrderedWorkers {
  readonly #url: string
  readonly #children: Array<ChildProcess> = []

  constructor(url: string) {
    this.#url = url
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#open()))
  }

  async disturb(how: Disturbance, index: number, loseConnections: () => Promise<unknown>): Promise<void> {
    const child = this.#children[index % this.#children.length]!
    if (how === "connections") await loseConnections()
    else if (how === "kill") {
      await this.#end(child)
      await this.#open()
    } else {
      child.kill("SIGSTOP")
      await pause(STOPPED_MILLIS)
      child.kill("SIGCONT")
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => this.#end(child)))
  }

  async #open(): Promise<void> {
    const child = fork(WORKER, [this.#url, String(LEASE_MILLIS)], {
      execArgv: [...PROGRAM_FLAGS],
      env: { ...process.env, ...compileCache() },
    })
    this.#children.push(child)
    await once(child, "message", { signal: AbortSignal.timeout(120_000) })
  }

  async #end(child: ChildProcess): Promise<void> {
    this.#children.splice(this.#children.indexOf(child), 1)
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
}

/** What is wrong with a receiver's log of event numbers, given those that were to come. */
export interface LogFaults {
  readonly missing: ReadonlyArray<number>
  /** Numbers that came before an earlier one had come. */
  readonly early: ReadonlyArray<number>
  /** How often the log goes back to an earlier event: once for each disturbance at most. */
  readonly returns: number
}

/** Checks a log: the numbers of the events that a receiver accepted, in their order. */
export const checkLog = (log: ReadonlyArray<number>, expected: ReadonlyArray<number>): LogFaults => {
  const rank = new Map(expected.map((id, index) => [id, index]))
  const early: Array<number> = []
  let returns = 0
  let reached = -1
  let last = -1
  for (const id of log) {
    const at = rank.get(id)
    if (at === undefined || at > reached + 1) early.push(id)
    else {
      if (at !== last && at <= last) returns++
      last = at
      reached = Math.max(reached, at)
    }
  }
  return { missing: expected.slice(reached + 1), early, returns }
}
