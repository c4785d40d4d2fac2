/** Starts a server of a cabinet's intake as a separate process (`intakeProgram.ts`). */
import { fork } from "node:child_process"
import { once } from "node:events"
import type { IntakeOptions } from "./intakeCabinet.ts"
import { compileCache, program, PROGRAM_FLAGS } from "./program.ts"

const PROGRAM = program(new URL("intakeProgram.ts", import.meta.url))

export const startIntakeProcess = async (databaseUrl: string, options: IntakeOptions = {}) => {
  const child = fork(PROGRAM, [databaseUrl, JSON.stringify(options)], {
    execArgv: [...PROGRAM_FLAGS, "--expose-gc"],
    env: { ...process.env, ...compileCache() },
  })
  const ask = async (question: string): Promise<number> => {
    const answer = once(child, "message")
    child.send(question)
    return Number((await answer)[0])
  }
  // It ends with the test's process, however that ends.
  process.once("exit", () => child.kill("SIGKILL"))
  const [port] = (await once(child, "message")) as [number]
  return {
    port,
    /** Resident bytes, after a collection. */
    memory: () => ask("memory"),
    /** Ends it as an operator would: it completes requests in flight. */
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    },
  }
}

export type IntakeProcess = Awaited<ReturnType<typeof startIntakeProcess>>
