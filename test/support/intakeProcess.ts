/**
 * A server of a cabinet's intake in a process of its own: `startIntakeProcess(databaseUrl)`. Run as a program it is that
 * process; it tells its port once it listens, and its memory when asked.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { type IntakeOptions, intakeCabinet } from "./intakeCabinet.ts"

export const startIntakeProcess = async (databaseUrl: string, options: IntakeOptions = {}) => {
  const child = fork(import.meta.filename, [databaseUrl, JSON.stringify(options)], {
    execArgv: ["--conditions=source", "--expose-gc"],
  })
  const ask = async (question: string): Promise<number> => {
    const answer = once(child, "message")
    child.send(question)
    return Number((await answer)[0])
  }
  // It goes when the test's process goes, however that ends.
  process.once("exit", () => child.kill("SIGKILL"))
  const [port] = (await once(child, "message")) as [number]
  return {
    port,
    /** Resident bytes, after a collection. */
    memory: () => ask("memory"),
    /** Ends it as an operator would: what is under way is finished. */
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    },
  }
}

export type IntakeProcess = Awaited<ReturnType<typeof startIntakeProcess>>

if (process.argv[1] === import.meta.filename) {
  const cabinet = await intakeCabinet(process.argv[2]!, JSON.parse(process.argv[3]!) as IntakeOptions)
  process.on("message", () => {
    ;(globalThis as { readonly gc?: () => void }).gc?.()
    process.send?.(process.memoryUsage().rss)
  })
  process.once("SIGTERM", () => void cabinet.close().then(() => process.exit(0)))
  process.send?.(cabinet.port)
}
