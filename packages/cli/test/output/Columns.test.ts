import { columns, widthOf } from "data-cabinet/output/Columns"
import { plainText } from "data-cabinet/output/PlainText"
import { styleFor } from "data-cabinet/output/Style"
import { expect, it } from "vitest"

const style = styleFor({ isTTY: false })

it("columns aligns by what a terminal shows, and cuts the last column at the line's end", () => {
  const text = columns(
    ["NAME", "TEXT"],
    [
      ["é́", "one"],
      ["日本", "a very long text that does not fit"],
    ],
    { style, none: "none", width: 20 },
  )
  expect(text.split("\n")).toEqual(["NAME  TEXT", "é́     one", "日本  a very long t…"])
})

it("columns says in words that there is nothing", () => {
  expect(columns(["A"], [], { style, none: "Nothing." })).toBe("Nothing.")
})

it("plainText leaves nothing that could move a cursor or turn a line round", () => {
  expect(plainText("a\u001b[2Jb\u202ec\u0000\nd")).toBe("a\\u001b[2Jb\\u202ec\\u0000⏎d")
})

it("widthOf counts places, not code units", () => {
  expect([widthOf("abc"), widthOf("日本"), widthOf("e\u0301")]).toEqual([3, 4, 1])
})
