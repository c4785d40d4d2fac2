/** The followers' protocol holds in every interleaving, and each mistake in it would be found. */
import { assert, it } from "vitest"
import { explore } from "./Explorer.ts"
import { type FollowerFault, followerModel, type FollowerWork } from "./FollowerModel.ts"

it.each<FollowerWork>(["inside", "outside"])(
  "a follower with its work %s skips nothing when two holders crash and stall anywhere",
  (work) => {
    const { states, counterexample } = explore(followerModel(work))
    assert.isNull(counterexample, counterexample ?? "")
    assert.isAbove(states, 100)
  },
)

it.each<readonly [FollowerFault, FollowerWork, string]>([
  ["position before act", "outside", "an event was skipped"],
  ["no fencing", "inside", "an effect and the position differ"],
  ["work before the lock", "inside", "an effect and the position differ"],
  ["a failure skips", "outside", "an event was skipped"],
  ["a failure skips", "inside", "an event was skipped"],
  ["no look at the clock", "outside", "a holder acted after another had claimed"],
])("the model detects a follower with the fault '%s' when its work is %s", (fault, work, rule) => {
  const { counterexample } = explore(followerModel(work, fault))
  assert.match(counterexample ?? "no counterexample", new RegExp(`=> ${rule}$`))
})

it("a trace names each step and the state after it", () => {
  const { counterexample } = explore(followerModel("outside", "position before act"))
  assert.strictEqual(
    counterexample,
    [
      "0. start: position 0; idle, idle; effects up to 0",
      "1. holder 0 claims: position 0, leased; claimed 0-0, idle; effects up to 0",
      "2. holder 0 reads 1 to 2: position 0, leased; read 0-2, idle; effects up to 0",
      "3. holder 0 moves to 2: position 2, leased; acted 0-2, idle; effects up to 0",
      "=> an event was skipped",
    ].join("\n"),
  )
})
