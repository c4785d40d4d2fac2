/** A PostgreSQL whose lock table is too small for the first migration. */
import { afterAll, expect, it } from "vitest"
import { endAll, newHome } from "../support/cabinetProcess.ts"
import { clusterHome, type TestCluster } from "../support/cluster.ts"
import { rawSession } from "../support/rawSession.ts"

const home = newHome()
const clusters = clusterHome()
afterAll(async () => {
  await endAll()
  await clusters.remove()
})

const started = async (name: string, locks: string) => {
  const cluster = await clusters.init(name)
  await cluster.start({ max_connections: "20", max_locks_per_transaction: locks })
  await cluster.createDatabase("cabinet")
  return cluster
}
const migrated = (cluster: TestCluster) => home.cabinet(["migrate"], { DATABASE_URL: cluster.url("cabinet") })

/** Takes locks until PostgreSQL has no memory for more, because how many it has beyond its settings depends on the version. */
const FILL = `DO $$ BEGIN
  FOR n IN 1..1000000 LOOP PERFORM pg_advisory_lock(n); END LOOP;
EXCEPTION WHEN out_of_memory THEN NULL; END $$`

it("migrate names the smallest sufficient values when the lock table is too small", async () => {
  const cluster = await started("few", "10")
  const other = await rawSession({ socketDir: cluster.socketDir, name: "cabinet" })
  await other.executeWithoutSync(FILL)
  const { code, stderr } = await migrated(cluster)
  expect(stderr).toMatch(/has too few locks to be prepared .* must be at least 640, .* raise max_locks_per_transaction/)
  expect(code).toBe(1)
  other.end()
})

it("migrate succeeds with the smallest values that it names", async () => {
  expect(await migrated(await started("least", "32"))).toMatchObject({ code: 0, stderr: "" })
})
