import { countEvents } from "@data-cabinet/store-pg/event/EventCounter"
import { assert, it } from "@effect/vitest"
import { Effect, Metric } from "effect"

it.effect("countEvents counts repeats apart from all other events", () =>
  Effect.gen(function* () {
    const row = (repeat_of: bigint | null) => ({ n: 1, id: 1n, repeat_of, deliveries: 0 })
    yield* countEvents([row(null), row(7n), row(null)])
    yield* countEvents([row(7n), row(null)])
    const all = yield* Metric.snapshot
    const counted = all.flatMap(({ id, attributes, state }) =>
      id === "events_total" ? [[attributes?.["repeat"], (state as { readonly count: number }).count]] : [],
    )
    assert.sameDeepMembers(counted, [
      ["false", 3],
      ["true", 2],
    ])
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())),
)
