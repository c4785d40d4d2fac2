import { memoized } from "@data-cabinet/delivery/outgoing/Memoized"
import { expect, it } from "vitest"

it("memoized computes once for each text, even if the result is null, until there are too many", () => {
  const asked: Array<string> = []
  const lengthOf = memoized(2, (text) => {
    asked.push(text)
    return text === "" ? null : { length: text.length }
  })
  expect(["a", "", "a", ""].map(lengthOf)).toEqual([{ length: 1 }, null, { length: 1 }, null])
  expect(asked).toEqual(["a", ""])
  expect(["bb", "bb", "a", "bb"].map(lengthOf)).toEqual([{ length: 2 }, { length: 2 }, { length: 1 }, { length: 2 }])
  expect(asked).toEqual(["a", "", "bb", "a"])
})

it("memoized does not remember a failure", () => {
  const urlOf = memoized(2, (text) => new URL(text))
  expect(() => urlOf("no")).toThrow()
  expect(() => urlOf("no")).toThrow()
  expect(urlOf("http://a.test/")).toBe(urlOf("http://a.test/"))
})
