import { IdempotencyStore } from "@data-cabinet/core/idempotency/IdempotencyStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Fiber } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>

beforeAll(() => {
  cabinet = testCabinet(database.url)
})
afterAll(() => cabinet.dispose())

const inTransaction = async (): Promise<number> => {
  const [found] = await database.run(
    `SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction' AND application_name LIKE 'data-cabinet%'`,
  )
  return found!["n"] as number
}

it("work that waits within its transaction leaves sessions for all others", async () => {
  const waits = IdempotencyStore.use((store) => store.transaction(Effect.never))
  // More than the owner's sessions.
  const all = Array.from({ length: 12 }, () => cabinet.runFork(waits))
  await expect.poll(inTransaction).toBeGreaterThan(0)
  for (let n = 0; n < 3; n++) {
    expect(await inTransaction()).toBeLessThanOrEqual(2)
    expect(await cabinet.runPromise(Sources.use(({ list }) => list))).toEqual([])
  }
  await cabinet.runPromise(Fiber.interruptAll(all))
})
