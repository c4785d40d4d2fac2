/** The cost of a long queue, and its metrics. */
import { CLAIM } from "@data-cabinet/store-pg/delivery/ClaimStatement"
import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { watchQueue } from "@data-cabinet/store-pg/delivery/QueueWatch"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())

it("watchQueue shows in the metrics that no process delivers, and that one does again", async () => {
  const source = await cabinet.source()
  const { id } = await cabinet.book((book) => book.create({ url: "http://example.com/", sources: "all" }))
  await cabinet.accept(source, 3)
  await cabinet.pass("5 minutes")
  const look = async () => {
    const watched = Effect.andThen(watchQueue(new LiveGauges()), PrometheusMetrics.format({ prefix: "cabinet" }))
    const text = await cabinet.runtime.runPromise(watched)
    return (name: string) =>
      Number(new RegExp(`^cabinet_delivery_${name}\\{database="${cabinet.name}"\\} (\\S+)$`, "m").exec(text)?.[1])
  }
  const late = await look()
  expect([late("due"), late("stuck"), late("retrying"), late("failing_addresses")]).toEqual([3, 3, 0, 0])
  expect(late("oldest_due_seconds")).toBeGreaterThanOrEqual(300)
  await cabinet.book((book) => book.remove(id))
  const after = await look()
  expect([after("due"), after("stuck"), after("oldest_due_seconds")]).toEqual([0, 0, 0])
})

interface Plan {
  readonly "Index Name"?: string
  readonly "Actual Loops": number
  readonly "Actual Rows": number
  readonly Plans?: ReadonlyArray<Plan>
}
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

it("claim reads one delivery of each of thousands of failing addresses, and no more", async () => {
  const source = await cabinet.source("Busy")
  await cabinet.book((book) => book.create({ url: "http://example.com/", sources: [source] }))
  await cabinet.accept(source, 5)
  await cabinet.run(`
    WITH failing AS (
      INSERT INTO cabinet.address (url, secret, every_source, failing_since)
      SELECT 'http://example.com/', 's', false, cabinet.now() - interval '11 seconds' FROM generate_series(1, 3000) RETURNING id)
    INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at)
    SELECT f.id, (SELECT max(id) FROM cabinet.event), cabinet.now(), cabinet.now() FROM failing f, generate_series(1, 10)`)
  await cabinet.run("ANALYZE cabinet.delivery")
  await cabinet.run("ANALYZE cabinet.address")
  const values = ["'{}'", "'{}'", "2", "false", "0", "128", "60"]
  const statement = CLAIM.replace(/\$(\d)/g, (_, n: string) => values[Number(n) - 1]!)
  const [row] = await cabinet.run(`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`)
  const plan = (row!["QUERY PLAN"] as unknown as ReadonlyArray<{ readonly Plan: Plan }>)[0]!.Plan
  const probes = nodes(plan).filter((node) => node["Index Name"] === "delivery_due")
  const rows = probes.map((node) => Math.round(node["Actual Loops"]! * node["Actual Rows"]!))
  // One address is healthy: one probe returns as many deliveries as that address may have, of all its own.
  expect(rows).toContain(2)
  // The walk from address to address looks at the first delivery of each.
  expect(rows.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(3_001 + 2 + 2)
})
