/** graphile-worker: `best` with its local queue and completions in batches, `default` without; equally many at once. */
import { Logger, run } from "graphile-worker"
import { CONCURRENCY, post } from "./post.ts"

const best = process.env["WORKER_MODE"] === "best"
const runner = await run({
  preset: {
    worker: {
      connectionString: process.env["DATABASE_URL"]!,
      concurrentJobs: CONCURRENCY,
      maxPoolSize: 10,
      ...(best ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
    },
  },
  logger: new Logger(() => () => {}),
  taskList: { deliver: (payload) => post(payload) },
  noHandleSignals: true,
})
process.once("SIGINT", () => process.exit(0))
process.stdout.write("{}\n")
await runner.promise
