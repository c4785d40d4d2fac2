import { assert, it } from "@effect/vitest"
import { Effect, Exit, Metric, Scope } from "effect"
import { type LiveGauges, liveGauges } from "../../src/runtime/LiveGauges.ts"

const gauge = Metric.gauge("live_gauges_behind")
const show = (gauges: LiveGauges, values: Readonly<Record<string, number>>) =>
  gauges.show(Object.entries(values).map(([name, value]) => ({ gauge, labels: { name }, value })))

/** The series of the gauge, as `name value`. */
const shown = Effect.map(Metric.snapshot, (all) =>
  all
    .filter(({ id }) => id === gauge.id)
    .map(({ attributes, state }) => `${attributes?.["name"]} ${(state as { readonly value: number }).value}`)
    .toSorted(),
)

it.effect("LiveGauges shows what the last round measured, and nothing once its scope has closed", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const gauges = yield* Scope.provide(liveGauges, scope)
    yield* show(gauges, { first: 1, second: 2 })
    assert.deepStrictEqual(yield* shown, ["first 1", "second 2"])
    yield* show(gauges, { second: 3, third: 4 })
    assert.deepStrictEqual(yield* shown, ["second 3", "third 4"])
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(yield* shown, [])
  }),
)
