/** Cold history keeps its promises in every interleaving, and each mistake in its protocol would be found. */
import { assert, it } from "vitest"
import { coldModel, type ColdOptions } from "./ColdModel.ts"
import type { ColdFault } from "./ColdState.ts"
import { explore } from "./Explorer.ts"

const ALONE: ColdOptions = { archivers: 1, restore: false, reader: false, bringer: false }

it.each<ColdOptions>([
  { ...ALONE, archivers: 2, bringer: true },
  { ...ALONE, reader: true, bringer: true },
  { ...ALONE, restore: true },
])(
  "no event is lost or missed, and no erasure undone, with $archivers archivers (restore $restore, reader $reader, bringer $bringer)",
  (options) => {
    const { states, counterexample } = explore(coldModel(options))
    assert.isNull(counterexample, counterexample ?? "")
    assert.isAbove(states, 300)
  },
)

it.each<readonly [ColdFault, ColdOptions, string]>([
  ["a file is not read back", ALONE, "an event is lost"],
  ["a list that has changed is overwritten", { ...ALONE, archivers: 2 }, "an erasure is undone"],
  ["rows that differ are deleted", ALONE, "an erasure is undone"],
  ["deletion without a wait", { ...ALONE, reader: true }, "a reader missed an event"],
  ["files count before rows", ALONE, "an erasure is undone"],
  ["rows are not held", ALONE, "an erasure is undone"],
  ["brought back from an older file", { ...ALONE, bringer: true }, "an erasure is undone"],
  ["deletions do not count", { ...ALONE, restore: true }, "an erasure is undone"],
  ["a later file is not looked for", { ...ALONE, restore: true }, "an event is lost"],
])("the model detects the fault '%s'", (fault, options, rule) => {
  const { counterexample } = explore(coldModel(options, fault))
  assert.match(counterexample ?? "no counterexample", new RegExp(`=> ${rule}$`))
})
