import { columnPart } from "@data-cabinet/console/table/ColumnPart"
import { assert, it } from "vitest"

const named = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`)

it("columnPart covers every column of any width once, and shows the sorted one", () => {
  for (let count = 41; count < 330; count += 7) {
    const names = named(count)
    const covered: Array<string> = []
    const { parts } = columnPart(names, [])!
    for (let part = 1; part <= parts; part++) {
      const { from, to } = columnPart(names, [["part", String(part)]])!
      covered.push(...names.slice(from, to))
    }
    assert.deepStrictEqual(covered, names)
    const sorted = columnPart(names, [["sort", "c40"]])!
    assert.include(names.slice(sorted.from, sorted.to), "c40")
  }
})

it("columnPart shows a narrow table whole, and the nearest part for a wrong number", () => {
  assert.isNull(columnPart(named(40), [["part", "2"]]))
  const partOf = (part: string) => columnPart(named(60), [["part", part]])!.part
  assert.deepStrictEqual(["0", "99", "-1", "x", "2.5", ""].map(partOf), [1, 3, 1, 1, 1, 1])
})
