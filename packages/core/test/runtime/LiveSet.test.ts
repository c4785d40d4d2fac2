import { assert, describe, it } from "vitest"
import { LiveSet } from "../../src/runtime/LiveSet.ts"

const membersOf = <A>(present: LiveSet<A>): ReadonlySet<A> => {
  const members = new Set<A>()
  present.forEach((member) => members.add(member))
  return members
}

describe("LiveSet", () => {
  it("holds each member until it is removed, in any order, and removes it once", () => {
    const present = new LiveSet<string>()
    const leave = ["a", "b", "c", "d"].map((name) => present.add(name))
    leave[1]!()
    leave[1]!()
    assert.deepEqual(membersOf(present), new Set(["a", "c", "d"]))
    leave[3]!()
    leave[0]!()
    assert.deepEqual(membersOf(present), new Set(["c"]))
    assert.isFalse(present.isEmpty)
    assert.equal(present.size, 1)
    leave[2]!()
    assert.deepEqual(membersOf(present), new Set())
    assert.isTrue(present.isEmpty)
  })

  it("removeIf removes members that match, tests each once, and keeps the others", () => {
    const present = new LiveSet<number>()
    const leave = Array.from({ length: 50 }, (_, n) => present.add(n))
    const asked: Array<number> = []
    present.removeIf((n) => asked.push(n) > 0 && n % 3 !== 0)
    assert.deepEqual(
      asked.toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, n) => n),
    )
    const kept = Array.from({ length: 17 }, (_, n) => 3 * n)
    assert.deepEqual(membersOf(present), new Set(kept))
    for (const once of leave) once()
    assert.isTrue(present.isEmpty)
  })

  it("visits each remaining member once, even if some leave during the visit", () => {
    const present = new LiveSet<number>()
    const leave = Array.from({ length: 20 }, (_, n) => present.add(n))
    const visited: Array<number> = []
    present.forEach((n) => {
      visited.push(n)
      if (n % 3 === 0) leave[n]!()
      if (n === 10) leave[11]!()
    })
    assert.deepEqual(
      visited.toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n),
    )
    assert.equal(membersOf(present).size, 12)
  })
})
