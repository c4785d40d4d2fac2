import { RebuildPace } from "@data-cabinet/store-pg/row/RebuildPace"
import { expect, it } from "vitest"

it("a rebuild copies without rests while its slices are quick, and less at a time with rests while they are slow", () => {
  const pace = new RebuildPace()
  const after = (...millis: ReadonlyArray<number>) => {
    for (const each of millis) pace.took(each)
    return [pace.rows, pace.restMillis]
  }
  expect(after(100)).toEqual([1000, 0])
  expect(after(120)).toEqual([500, 60])
  expect(after(5000)).toEqual([500, 500])
  expect(after(100)).toEqual([1000, 0])
})
