/**
 * From spawn to a response of /readyz, against an empty program of Fastify and pg, and the memory at rest. Both as shipped:
 * JavaScript.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { cleanEnvironment, freePort, ourServer } from "../contestant.ts"
import { residentBytes } from "../processCpu.ts"
import { shippedCabinet } from "../shipped.ts"
import { divided, type Figure, median } from "../figure.ts"

const EMPTY = fileURLToPath(new URL("../yardstick/emptyServer.mjs", import.meta.url))

const MB = 1_048_576
const MOST_AT_REST = 110

interface Started {
  /** Milliseconds until the first successful response, with an attempt every two. */
  readonly took: number
  /** Megabytes of resident memory after that, at rest for `restMillis`. */
  readonly resident: number
}

const startOnce = async (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  restMillis = 0,
): Promise<Started> => {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, words, {
    env: cleanEnvironment({ ...env, PORT: String(port) }),
    stdio: ["ignore", "ignore", "inherit"],
  })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ready) break
    if (child.exitCode !== null) throw new Error(`${words[0]} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const took = performance.now() - began
  await new Promise((resolve) => setTimeout(resolve, restMillis))
  const resident = residentBytes(child.pid!) / MB
  child.kill("SIGINT")
  await ended
  return { took, resident }
}

export const start: Figure = {
  name: "start",
  title: "Start",
  caption:
    "From spawning the process to a 200 of /readyz, requested every two milliseconds, on an existing and migrated database. ours: cabinet serve as shipped, built, with its cache of compiled code. empty: Fastify and a pool of pg with one route that runs SELECT 1.",
  measure: async (bench) => {
    const cabinet = shippedCabinet()
    const url = await bench.cluster.database("ours")
    await (await ourServer(url)).stop()
    const env = { DATABASE_URL: url, LOG_LEVEL: "warn" }
    const times = { ours: [] as Array<number>, empty: [] as Array<number> }
    await startOnce([cabinet, "serve"], env)
    await startOnce([EMPTY], env)
    for (let round = 0; round < bench.rounds; round++) {
      times.ours.push((await startOnce([cabinet, "serve"], env)).took)
      times.empty.push((await startOnce([EMPTY], env)).took)
      bench.say(`  ${round + 1} ours ${Math.round(times.ours.at(-1)!)} ms, empty ${Math.round(times.empty.at(-1)!)} ms`)
    }
    // Unused memory is given back after a minute.
    const restMillis = bench.sized(500, 75_000)
    const resident = {
      ours: (await startOnce([cabinet, "serve"], env, restMillis)).resident,
      empty: (await startOnce([EMPTY], env, restMillis)).resident,
    }
    return {
      goals: [
        {
          work: "serve on a migrated external database, spawn to /readyz",
          goal: "≤ 1.5 × an empty Fastify + pg program",
          atMost: 1.5,
          ratios: divided(times.ours, times.empty),
          cpuRatios: [],
        },
        {
          work: `resident memory at rest, ${restMillis / 1000} s after that, as a part of ${MOST_AT_REST} MB`,
          goal: `≤ ${MOST_AT_REST} MB`,
          // Within 5 % would be too kind here.
          atMost: 1 / 1.05,
          ratios: [resident.ours / MOST_AT_REST],
          cpuRatios: [],
        },
      ],
      standings: [
        { contestant: "ours", value: median(times.ours), unit: "ms" },
        { contestant: "empty", value: median(times.empty), unit: "ms" },
        { contestant: "ours at rest", value: resident.ours, unit: "MB" },
        { contestant: "empty at rest", value: resident.empty, unit: "MB" },
      ],
    }
  },
}
