import { assert, it } from "vitest"
import { batcher, runAll } from "../../src/runtime/Batcher.ts"

it("batcher runs the calls that arrived before it begins, and later ones in the next batch", () => {
  const begun: Array<() => void> = []
  const done: Array<ReadonlyArray<string>> = []
  const join = batcher<string>(
    (all) => begun.push(all),
    (all) => {
      done.push(all)
      if (all.includes("b")) join("d")
    },
  )
  for (const one of ["a", "b", "c"]) join(one)
  assert.deepStrictEqual([begun.length, done], [1, []])
  begun[0]!()
  assert.deepStrictEqual([begun.length, done], [2, [["a", "b", "c"]]])
  begun[1]!()
  join("e")
  assert.strictEqual(begun.length, 3)
  begun[2]!()
  assert.deepStrictEqual(done, [["a", "b", "c"], ["d"], ["e"]])
})

it("runAll runs a batch of functions in their order", () => {
  const told: Array<string> = []
  runAll([() => told.push("a"), () => told.push("b")])
  assert.deepStrictEqual(told, ["a", "b"])
})
