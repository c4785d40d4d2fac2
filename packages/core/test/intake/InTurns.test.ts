/** No task waits for more than one piece of another's work. */
import { inTurns } from "@data-cabinet/core/runtime/InTurns"
import { assert, it } from "vitest"

it("inTurns runs one step of each task in turn, and yields between two steps", () => {
  const later: Array<() => void> = []
  const take = inTurns((step) => later.push(step))
  const done: Array<string> = []
  const work = (name: string, steps: number) => {
    let left = steps
    return () => {
      done.push(name)
      return --left === 0
    }
  }
  take(work("a", 3), "a")
  take(work("b", 1), "b")
  take(work("c", 2), "c")
  assert.deepStrictEqual(done, [])
  while (later.length > 0) {
    assert.strictEqual(later.length, 1)
    const before = done.length
    later.shift()!()
    assert.strictEqual(done.length, before + 1)
  }
  assert.deepStrictEqual(done.toSorted().join(""), "aaabcc")
  assert.deepStrictEqual(done.slice(0, 3), ["a", "b", "c"])
  take(work("d", 1), "d")
  later.shift()!()
  assert.strictEqual(done.at(-1), "d")
})

it("inTurns continues with the other tasks when one throws", () => {
  const later: Array<() => void> = []
  const take = inTurns((step) => later.push(step))
  const done: Array<string> = []
  take(() => {
    throw new Error("a fault of ours")
  }, "")
  take(() => done.push("other") === 1, "")
  assert.throws(() => later.shift()!(), "a fault of ours")
  later.shift()!()
  take(() => done.push("later") === 2, "")
  later.shift()!()
  assert.deepStrictEqual(done, ["other", "later"])
})

it("inTurns runs a few tasks concurrently, and the waiting ones in order", () => {
  const later: Array<() => void> = []
  const take = inTurns((step) => later.push(step), 2)
  const done: Array<string> = []
  let inFlight = 0
  let most = 0
  const work = (name: string) => {
    let steps = 0
    return () => {
      if (steps === 0) most = Math.max(most, ++inFlight)
      if (++steps < 3) return false
      inFlight--
      done.push(name)
      return true
    }
  }
  for (let n = 1; n <= 6; n++) take(work(`hostile${n}`), "hostile")
  take(work("honest1"), "honest")
  take(work("other1"), "other")
  take(work("honest2"), "honest")
  while (later.length > 0) later.shift()!()
  assert.strictEqual(most, 2)
  assert.strictEqual(done.join(" "), "hostile1 hostile2 hostile3 honest1 other1 hostile4 honest2 hostile5 hostile6")
})
