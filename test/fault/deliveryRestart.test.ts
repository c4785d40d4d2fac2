/** PostgreSQL itself crashes and comes back while deliveries are in flight. */
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { shippedBinaries } from "@data-cabinet/store-pg/embedded/Binaries"
import { initCluster } from "@data-cabinet/store-pg/embedded/Cluster"
import { startPostmaster } from "@data-cabinet/store-pg/embedded/Postmaster"
import { giveTo } from "@data-cabinet/store-pg/embedded/Unprivileged"
import { migrate } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { ManagedRuntime } from "effect"
import { expect, it } from "vitest"
import { suiteLauncher } from "../support/cluster.ts"
import { databaseUrl, runSql, superuser } from "../support/postgresAdmin.ts"
import { deliveryLayer } from "./deliveryLayers.ts"
import { openReceiver } from "./deliveryReceiver.ts"

it("the delivery loop continues after PostgreSQL was killed and restarted, and loses nothing", async () => {
  const home = mkdtempSync("/tmp/dc-restart-")
  const binaries = shippedBinaries(join(home, "lib"))
  const launcher = suiteLauncher()
  const pgdata = join(home, "pgdata")
  await initCluster({ binaries, launcher, pgdata, superuser })
  const socketDir = mkdtempSync(join(home, "s-"))
  giveTo(launcher, socketDir)
  const start = () =>
    startPostmaster({
      binaries,
      launcher,
      pgdata,
      logFile: join(home, "postgres.log"),
      settings: { listen_addresses: "", unix_socket_directories: socketDir, max_connections: "50" },
      startTimeoutMillis: 60_000,
    })
  let server = await start()
  const url = databaseUrl(socketDir, superuser, "postgres")
  const good = await openReceiver()
  const runtime = ManagedRuntime.make(deliveryLayer(url, { pollMillis: 200, leaseSeconds: 3, drainMillis: 500 }))
  try {
    await runtime.runPromise(migrate)
    await runtime.runPromise(AddressStore.use((book) => book.create({ url: good.url, sources: "all" })))
    await runSql(url, "INSERT INTO cabinet.source (name, intake_secret, secret_hash) VALUES ('S', 's', 'h')")
    await runSql(
      url,
      `WITH made AS (
        INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
        SELECT 1, 1, nextval('cabinet.event_id'), 1, cabinet.now(), 'webhook', false, false, '{}' FROM generate_series(1, 500) RETURNING *
      ) INSERT INTO cabinet.delivery (address_id, event_id, created_at, due_at) SELECT 1, id, received_at, received_at FROM made`,
    )
    await runtime.runPromise(DeliverySignal.use((signal) => signal.wake))
    for (const count of [50, 200]) {
      await good.received(count)
      process.kill(server.pid, "SIGQUIT")
      while (isThere(server.pid)) await new Promise((done) => setTimeout(done, 20))
      server = await start()
    }
    const left = async () =>
      (await runSql(url, "SELECT count(*)::int AS n FROM cabinet.delivery_all WHERE state <> 'delivered'"))[0]!["n"]
    while ((await left()) !== 0) await new Promise((done) => setTimeout(done, 100))
    expect(good.ids()).toEqual(Array.from({ length: 500 }, (_, n) => n + 1))
    expect(await runtime.runPromise(DeliveryQueue.use((queue) => queue.gauge))).toMatchObject({
      due: 0,
      stuck: 0,
      retrying: 0,
    })
  } finally {
    await runtime.dispose()
    await good.close()
    process.kill(server.pid, "SIGQUIT")
    while (isThere(server.pid)) await new Promise((done) => setTimeout(done, 20))
    rmSync(home, { recursive: true, force: true })
  }
})

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
