/** pg-boss: fetches batches without a pause while they are full, and sends the jobs of each concurrently. */
import { PgBoss } from "pg-boss"
import { CONCURRENCY, post } from "./post.ts"

const boss = new PgBoss({ connectionString: process.env["DATABASE_URL"]!, max: 10 })
boss.on("error", (error) => process.stderr.write(`${String(error)}\n`))
await boss.start()
await boss.createQueue("deliver")
await boss.work<object>(
  "deliver",
  { batchSize: CONCURRENCY, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
  async (jobs) => {
    await Promise.all(jobs.map(({ data }) => post(data)))
  },
)
process.once("SIGINT", () => process.exit(0))
process.stdout.write("{}\n")
