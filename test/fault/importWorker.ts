/** A process that imports a file and reports its progress: `importWorker.ts databaseUrl sourceId path`. */
import { Effect } from "effect"
import { importCabinet } from "../support/importCabinet.ts"

const [, , url, sourceId, path] = process.argv
const cabinet = importCabinet(url!)
const report = await cabinet.file(Number(sourceId), path!, {}, ({ phase, done }) =>
  Effect.sync(() => {
    process.send?.({ phase, done })
  }),
)
process.send?.({ phase: report.state, done: report.accepted, peak: process.resourceUsage().maxRSS })
await cabinet.close()
process.disconnect?.()
