import { assert, it } from "vitest"
import { collectYoung, growOld, oldBytes } from "../../../../test/support/youngHeap.ts"
import { LiveSet } from "../../src/runtime/LiveSet.ts"

it("LiveSet retains no memory of former members, even between full collections", () => {
  const present = new LiveSet<{ readonly words: ReadonlyArray<string> }>()
  const leave: Array<() => void> = []
  const pass = (members: number) => {
    for (let n = 0; n < members; n++) {
      leave.push(present.add({ words: Array.from({ length: 200 }, (_, at) => `${n} ${at}`) }))
      if (leave.length > 50) leave.shift()!()
      if (n % 100 === 0) collectYoung()
    }
  }
  pass(1_000)
  growOld()
  const before = oldBytes()
  pass(10_000)
  // With a Set they left 30 MB behind.
  assert.isBelow(oldBytes() - before, 5_000_000)
})
