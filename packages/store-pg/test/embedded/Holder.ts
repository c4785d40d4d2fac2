/** Starts holdDatabase.ts as a process and communicates with it, for tests that need real processes to kill. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { EmbeddedDatabase } from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { compileCache, program, PROGRAM_FLAGS } from "../../../../test/support/program.ts"

const PROGRAM = program(new URL("holdDatabase.ts", import.meta.url))

export type Answer = EmbeddedDatabase & { readonly code?: string; readonly message?: string }

export interface Holder {
  readonly pid: number
  /** What it printed: the database, or the reason for failing. */
  readonly answer: Answer
  /** Signals it (a negative pid means the whole group), waits for its end and returns exit code or signal. */
  readonly end: (signal: NodeJS.Signals, group?: boolean) => Promise<number | NodeJS.Signals | null>
}

const running = new Set<ChildProcess>()

export const hold = async (
  face: "serve" | "join",
  dataDir: string,
  options: {
    readonly transport?: "socket" | "tcp"
    readonly detached?: boolean
    readonly lingerMillis?: number
    readonly uid?: number
  } = {},
): Promise<Holder> => {
  const { transport = "socket", lingerMillis = 30_000, uid } = options
  const words = [face, dataDir, transport, String(lingerMillis), ...(uid === undefined ? [] : [String(uid)])]
  const child = spawn(process.execPath, [...PROGRAM_FLAGS, PROGRAM, ...words], {
    env: { ...process.env, ...compileCache() },
    stdio: ["ignore", "pipe", "inherit"],
    detached: options.detached ?? false,
  })
  running.add(child)
  const exit = once(child, "exit").then(([code, signal]) => {
    running.delete(child)
    return (code ?? signal) as number | NodeJS.Signals | null
  })
  const lines = createInterface({ input: child.stdout! })
  const first = await Promise.race([once(lines, "line").then(([line]) => String(line)), exit])
  if (typeof first !== "string" || !first.startsWith("{")) throw new Error(`holder ended with ${first}`)
  return {
    pid: child.pid!,
    answer: JSON.parse(first) as Answer,
    end: (signal, group = false) => {
      process.kill(group ? -child.pid! : child.pid!, signal)
      return exit
    },
  }
}

/** Kills the remains of a failed test. */
export const endAll = (): void => {
  for (const child of running) child.kill("SIGKILL")
}

/** Runs one statement on its own connection. */
export const query = (url: string, statement: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  PgClient.PgClient.use((sql) => sql.unsafe<Record<string, unknown>>(statement)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1, connectTimeout: "1 minute" })),
    Effect.runPromise,
  )

/** Repeats the query until it gets a result, for at most a minute. */
export const eventually = async <A>(ask: () => Promise<A>): Promise<A> => {
  const deadline = Date.now() + 60_000
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
