/** Measures for the operator how much room the disk of the embedded PostgreSQL's data has. */
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { Effect, Layer, Metric } from "effect"
import { databaseLabel } from "../connection/DatabaseLabel.ts"
import { DiskSpace } from "@data-cabinet/core/notice/SendNotices"

const free = Metric.gauge("disk_free_bytes", {
  description: "Free space on the disk of the embedded PostgreSQL's data, in bytes.",
})
const size = Metric.gauge("disk_size_bytes", {
  description: "Size of the disk of the embedded PostgreSQL's data, in bytes.",
})

/** Checks once. Shows nothing if the disk cannot be measured. */
export const watchDisk = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const labels = yield* databaseLabel
    const disk = yield* DiskSpace.use((space) => space.look)
    yield* gauges.show(
      disk === null
        ? []
        : [
            { gauge: free, labels, value: disk.freeBytes },
            { gauge: size, labels, value: disk.totalBytes },
          ],
    )
  })

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  Effect.flatMap(liveGauges, (gauges) => background("disk watch", "30 seconds", watchDisk(gauges), { quiet: true })),
)
