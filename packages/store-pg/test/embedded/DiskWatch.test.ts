import { tmpdir } from "node:os"
import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { PgClient } from "@effect/sql-pg"
import * as DirectorySpace from "@data-cabinet/store-pg/embedded/DirectorySpace"
import { watchDisk } from "@data-cabinet/store-pg/embedded/DiskWatch"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { DiskSpace, UNKNOWN_DISK } from "@data-cabinet/core/notice/SendNotices"

const database = withDatabase()

it("watchDisk shows the room of a known disk, and nothing of an unknown one", async () => {
  const gauges = new LiveGauges()
  const look = async (disk: Layer.Layer<DiskSpace>) => {
    const watched = Effect.andThen(watchDisk(gauges), PrometheusMetrics.format({ prefix: "cabinet" }))
    const client = PgClient.layer({ url: Redacted.make(database.url), maxConnections: 1 })
    const text = await Effect.runPromise(Effect.provide(watched, Layer.merge(client, disk)))
    return Object.fromEntries(
      [...text.matchAll(/^cabinet_(disk_\w+)\{database="([^"]+)"\} (\S+)$/gm)].map(([, name, label, value]) => {
        assert.strictEqual(label, database.name)
        return [name, Number(value)]
      }),
    )
  }
  const known = await look(DirectorySpace.layer(tmpdir()))
  assert.sameMembers(Object.keys(known), ["disk_free_bytes", "disk_size_bytes"])
  assert.isAbove(known["disk_size_bytes"]!, 0)
  assert.isAtMost(known["disk_free_bytes"]!, known["disk_size_bytes"]!)
  assert.deepStrictEqual(await look(Layer.succeed(DiskSpace, UNKNOWN_DISK)), {})
})
