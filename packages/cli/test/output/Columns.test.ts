import { columns, widthOf } from "data-cabinet/output/Columns"
import { plainText } from "data-cabinet/output/PlainText"
import { styleFor } from "data-cabinet/output/Style"
import { expect, it } from "vitest"

const style = styleFor({ isTTY: false })

it("columns aligns by display width and cuts the last column at the end of the line", () => {
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

it("columns keeps every line within the terminal's width, however many and wide the columns are", () => {
  const lengths = [1, 3, 9, 20, 61, 500]
  for (const count of [1, 2, 5, 12, 40]) {
    for (const width of [20, 40, 80, 200]) {
      const cells = Array.from({ length: count }, (_, at) => "x".repeat(lengths[at % lengths.length]!))
      const head = cells.map((_, at) => `C${at}`)
      const lines = columns(head, [cells, cells], { style, none: "none", width }).split("\n")
      // The remark below is prose, which may wrap.
      for (const line of lines.slice(0, 3)) expect(widthOf(line), `${count} in ${width}`).toBeLessThanOrEqual(width)
      const shown = lines[0]!.trim().split(/\s+/).length
      expect(lines.length === 4, `${count} in ${width}`).toBe(shown < count)
      if (shown < count) expect(lines[3]).toMatch(new RegExp(`^${count - shown} columns? (?:does|do) not fit here`))
    }
  }
})

it("columns shrinks nothing when there is room, and otherwise the widest columns first", () => {
  const row = ["short", "y".repeat(30), "z".repeat(200)]
  const wide = columns(["A", "B", "C"], [row], { style, none: "none", width: Infinity })
  expect(wide.split("\n")[1]).toBe(row.join("  "))
  expect(columns(["A", "B", "C"], [row], { style, none: "none", width: 60 }).split("\n")[1]).toMatch(
    /^short  y{24}…  z{24}…$/,
  )
})

it("columns prints a sentence when there are no rows", () => {
  expect(columns(["A"], [], { style, none: "Nothing." })).toBe("Nothing.")
})

it("plainText removes everything that could move the cursor or reverse the direction of writing", () => {
  expect(plainText("a\u001b[2Jb\u202ec\u0000\nd")).toBe("a\\u001b[2Jb\\u202ec\\u0000⏎d")
})

it("widthOf counts terminal cells, not code units", () => {
  expect([widthOf("abc"), widthOf("日本"), widthOf("e\u0301")]).toEqual([3, 4, 1])
})
