/** The feed's fence holds in every interleaving, and each mistake in it would be found. */
import { assert, it } from "vitest"
import { explore } from "./Explorer.ts"
import { type FenceFault, fenceModel, type FenceOptions } from "./FenceModel.ts"

/** With MODEL=whole, as in `npm run trials -- model`. They take a minute. */
const LARGE: ReadonlyArray<FenceOptions> = [
  { writers: 3, readers: 2, change: "restart" },
  { writers: 2, readers: 2, change: "restore" },
  { writers: 2, readers: 2, change: "set back" },
]

it.each<FenceOptions>([
  { writers: 3, readers: 2, change: null },
  { writers: 3, readers: 1, change: "restart" },
  { writers: 3, readers: 1, change: "restore" },
  { writers: 3, readers: 1, change: "set back" },
  ...(process.env["MODEL"] === "whole" ? LARGE : []),
])(
  "the feed shows each of $readers readers everything when $writers writers commit in any order (server: $change)",
  (options) => {
    const { states, counterexample } = explore(fenceModel(options))
    assert.isNull(counterexample, counterexample ?? "")
    assert.isAbove(states, 1_000)
  },
)

it.each<readonly [FenceFault, FenceOptions["change"]]>([
  ["no fence", null],
  ["fence after the id", null],
  ["holders before the snapshot", null],
  ["events before the watermark", null],
  ["no new epoch", "restore"],
])("the model detects a feed with the fault '%s'", (fault, change) => {
  const { counterexample } = explore(fenceModel({ writers: 3, readers: 1, change, fault }))
  assert.match(counterexample ?? "no counterexample", /=> a reader never sees event [0-9]+$/)
})
