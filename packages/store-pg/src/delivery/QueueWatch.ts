/**
 * Monitors the delivery queue for the operator. It runs in every process that serves, not only in those that deliver,
 * because the case to detect is precisely that no process delivers.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { type LiveGauges, liveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { DeliveryQueue, type QueueGauge } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Effect, Layer, Metric } from "effect"
import { databaseLabel } from "../connection/DatabaseLabel.ts"

const gauge = (name: string, description: string) => Metric.gauge(`delivery_${name}`, { description })

type Count = Exclude<keyof QueueGauge, "behindAddresses">

const GAUGES: Readonly<Record<Count, ReturnType<typeof gauge>>> = {
  due: gauge("due", "Deliveries due now at addresses that are neither paused nor failing."),
  retrying: gauge(
    "retrying",
    "Deliveries that wait for a later attempt, are in flight, or are due at failing addresses.",
  ),
  paused: gauge("paused", "Deliveries that wait for an address that is paused."),
  oldestDueSeconds: gauge("oldest_due_seconds", "For how long the oldest of those due now has been due; 0 for none."),
  stuck: gauge(
    "stuck",
    "Deliveries overdue by more than two minutes at addresses that are neither paused nor failing, and get none. Must be zero: otherwise no worker is running.",
  ),
  behind: gauge(
    "behind",
    "Deliveries overdue by more than two minutes at addresses that accept fewer than are created for them.",
  ),
  failingAddresses: gauge("failing_addresses", "Addresses whose last attempt failed."),
}

/** Checks once. */
export const watchQueue = (gauges: LiveGauges) =>
  Effect.gen(function* () {
    const labels = yield* databaseLabel
    const seen = yield* DeliveryQueue.use((queue) => queue.gauge)
    const names = Object.keys(GAUGES) as ReadonlyArray<Count>
    yield* gauges.show(names.map((name) => ({ gauge: GAUGES[name], labels, value: seen[name] })))
  })

export const layer = Layer.effectDiscard(
  // An unavailable database is reported by everything that needs it.
  Effect.flatMap(liveGauges, (gauges) =>
    background("delivery queue watch", "30 seconds", watchQueue(gauges), { quiet: true }),
  ),
)
