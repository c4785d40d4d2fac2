/**
 * How far a service with many cabinets, and a cabinet with very many events, scale. It measures small cases, and
 * calculates large ones from them, printed with the figures used. docs/scale.md has the results.
 *
 *   node --conditions=source test/bench/simulation.ts [--registered 10000] [--looked 1000] [--opened 12] [--events 20000]
 *     [--listed 100000] [--only many|one|registry]
 *
 * CPU time is Linux's for whole processes (see processCpu), so that it is meaningful on a busy machine.
 */
import { parseArgs } from "node:util"
import { startRun } from "./run.ts"
import { manyCabinets } from "./simulation/manyCabinets.ts"
import { oneCabinet } from "./simulation/oneCabinet.ts"
import { largeRegistry } from "./simulation/registry.ts"

const { values } = parseArgs({
  options: {
    registered: { type: "string", default: "10000" },
    looked: { type: "string", default: "1000" },
    opened: { type: "string", default: "12" },
    events: { type: "string", default: "20000" },
    listed: { type: "string", default: "100000" },
    only: { type: "string" },
  },
})

const say = (line: string) => void process.stderr.write(`${line}\n`)
const { cluster, end } = await startRun(say)
const results: Record<string, unknown> = {}
const note = (name: string, value: unknown) => {
  results[name] = value
  say(`${name}: ${JSON.stringify(value)}`)
}
const simulation = { cluster, note }
const cabinets = {
  registered: Number(values.registered),
  looked: Number(values.looked),
  opened: Number(values.opened),
}

try {
  const runs = (part: string) => values.only === undefined || values.only === part
  if (runs("many")) await manyCabinets(simulation, cabinets)
  if (runs("one")) await oneCabinet(simulation, Number(values.events))
  if (runs("registry")) await largeRegistry(simulation, Number(values.listed))
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
} finally {
  await end()
}
