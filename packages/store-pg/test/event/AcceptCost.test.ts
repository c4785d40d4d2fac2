/** The cost of a batch grows linearly with its events. */
import { Sources } from "@data-cabinet/core/source/Sources"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { assert, it } from "vitest"
import { testCabinet } from "../../../../test/support/testCabinet.ts"
import { testDatabase } from "../../../../test/support/postgres.ts"

const EVENTS = 200

interface PlanNode {
  readonly "Sort Space Used"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

/** Kilobytes sorted in total. */
const sorted = (node: PlanNode): number =>
  (node["Sort Space Used"] ?? 0) + (node.Plans ?? []).reduce((sum, below) => sum + sorted(below), 0)

it("accepting a full batch sorts only its events and texts, and takes less than quadratic time", async () => {
  const database = await testDatabase()
  const store = testCabinet(database.url)
  const [plan] = await store.runPromise(
    Effect.gen(function* () {
      const source = yield* Sources.use((sources) => sources.create({ name: "Orders" }))
      const events = Array.from({ length: EVENTS }, (_, n) => fingerprintedEvent(new Map([["order", String(n)]])))
      const request = {
        sourceId: source.id,
        sourceVersion: 1,
        channel: "webhook",
        history: false,
        original: null,
      } as const
      const batch = planBatch(
        [{ ...request, events }],
        () => ({ table: undefined, waits: false }),
        bodyKeys("00".repeat(32)),
      )
      const { text, values } = acceptStatement(batch)
      const sql = yield* PgClient.PgClient
      yield* sql`SELECT cabinet.check_epoch()`
      return yield* sql.unsafe<{ "QUERY PLAN": ReadonlyArray<{ Plan: PlanNode }> }>(
        `EXPLAIN (ANALYZE, TIMING off, FORMAT json) ${text}`,
        values,
      )
    }),
  )
  await store.dispose()
  await database.drop()
  const kilobytes = sorted(plan!["QUERY PLAN"][0]!.Plan)
  assert.isAbove(kilobytes, 0)
  assert.isBelow(kilobytes, 3 * EVENTS)
})
