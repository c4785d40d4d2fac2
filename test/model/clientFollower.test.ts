/** A client's position skips nothing in any interleaving, and each mistake in it would be found. */
import { assert, it } from "vitest"
import { clientFollowerModel, type ClientFollowerFault } from "./ClientFollowerModel.ts"
import { explore } from "./Explorer.ts"

it("a client's position skips nothing when two programs share it, through crashes, a reset and a restore", () => {
  const { states, counterexample } = explore(clientFollowerModel())
  assert.isNull(counterexample, counterexample ?? "")
  assert.isAbove(states, 1_000)
})

it.each<readonly [ClientFollowerFault, string]>([
  ["acknowledged before processed", "an event was skipped"],
  ["a reset is forgotten", "an event was skipped"],
  ["never back", "the goal is out of reach"],
])("the model detects a client's position with the fault '%s'", (fault, rule) => {
  const { counterexample } = explore(clientFollowerModel(fault))
  assert.match(counterexample ?? "no counterexample", new RegExp(`=> ${rule}$`))
})
