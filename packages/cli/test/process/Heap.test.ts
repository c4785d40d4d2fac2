import { constants, PerformanceObserver } from "node:perf_hooks"
import { collectWhileQuiet } from "data-cabinet/process/Heap"
import { expect, it, vi } from "vitest"

interface Collection {
  readonly kind: number
  readonly flags: number
}

/** Full garbage collections that were requested. */
let asked = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind, flags } = (entry as unknown as { readonly detail: Collection }).detail
    const forced = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0
    if (forced && kind === constants.NODE_PERFORMANCE_GC_MAJOR) asked++
  }
}).observe({ entryTypes: ["gc"] })

/** Keeps the event loop busy. */
const work = async (millis: number): Promise<void> => {
  for (const end = performance.now() + millis; performance.now() < end;) {
    for (const pause = performance.now() + 20; performance.now() < pause;);
    await new Promise((resolve) => setImmediate(resolve))
  }
}

it("collectWhileQuiet collects all garbage at intervals while the load is low", async () => {
  collectWhileQuiet(50)
  await work(400)
  expect(asked).toBe(0)
  await vi.waitFor(() => expect(asked).toBeGreaterThan(1), { timeout: 100_000, interval: 20 })
})
