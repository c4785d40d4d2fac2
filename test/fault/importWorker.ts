/**
 * A process that imports a file and reports its progress: `importWorker.ts databaseUrl sourceId path`. After each report it
 * waits for an answer, so that its parent acts in time, however busy the machine is.
 */
import { once } from "node:events"
import { Effect } from "effect"
import { importCabinet } from "../support/importCabinet.ts"

const [, , url, sourceId, path] = process.argv
const cabinet = importCabinet(url!)
process.once("disconnect", () => process.exit())
const report = await cabinet.file(Number(sourceId), path!, {}, ({ phase, done }) =>
  Effect.promise(() => {
    const answer = once(process, "message")
    process.send?.({ phase, done })
    return answer
  }),
)
process.send?.({ phase: report.state, done: report.accepted, peak: process.resourceUsage().maxRSS })
await cabinet.close()
process.disconnect?.()
