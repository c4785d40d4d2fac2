/** Tests of the model checker: which states it visits, and what it reports. */
import { assert, it } from "vitest"
import { explore, type Model } from "./Explorer.ts"

/** A counter that is raised by one or by two. */
const counter = (over: Partial<Model<{ readonly n: number }>> = {}): Model<{ readonly n: number }> => ({
  initial: { n: 0 },
  steps: ({ n }) => (n >= 4 ? [] : ([1, 2] as const).map((by) => [`add ${by}`, { n: Math.min(4, n + by) }] as const)),
  broken: () => null,
  isGoal: ({ n }) => n === 4,
  show: ({ n }) => String(n),
  ...over,
})

it("explore visits each state once when several ways lead to it", () => {
  assert.deepStrictEqual(explore(counter()), { states: 5, counterexample: null })
})

it("explore reports the shortest trace when a state breaks a rule", () => {
  const { counterexample } = explore(counter({ broken: ({ n }) => (n === 3 ? "three is forbidden" : null) }))
  assert.strictEqual(counterexample, "0. start: 0\n1. add 1: 1\n2. add 2: 3\n=> three is forbidden")
})

it("explore reports the trace to a state from which the goal cannot be reached", () => {
  const { counterexample } = explore(
    counter({
      steps: ({ n }) =>
        n >= 3
          ? []
          : ([
              ["add 1", { n: n + 1 }],
              ["jump", { n: 4 }],
            ] as const),
    }),
  )
  assert.strictEqual(counterexample, "0. start: 0\n1. add 1: 1\n2. add 1: 2\n3. add 1: 3\n=> the goal is out of reach")
})
