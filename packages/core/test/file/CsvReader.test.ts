import { assert, it } from "@effect/vitest"
import { Random, Seed } from "../intake/Random.ts"
import { csv } from "./readPieces.ts"

const CELLS = ["", "a", "007", 'say "hi"', "a,b", "two\nlines", "cr\rlf\r\n", '"', "Ёж", "😀", " spaced ", ";"]
const ENDS = ["\n", "\r\n", "\r"]

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`

it.prop(
  "CsvReader restores any cells however the text is split",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const delimiter = random.pick([",", ";", "\t", "|", "||", "~|~"])
    const end = random.pick(ENDS)
    const width = 1 + random.below(4)
    const rows = random
      .list(6, () => Array.from({ length: width }, () => random.pick(CELLS)))
      .filter((row) => row.some((cell) => cell !== ""))
    const text = rows
      .map((row) => {
        const line = row.map((cell) =>
          /["\r\n]/.test(cell) || cell.includes(delimiter) || random.below(3) === 0 ? quoted(cell) : cell,
        )
        return line.join(delimiter) + end
      })
      .join("")
    const pieces: Array<string> = []
    for (let at = 0; at < text.length;) {
      const size = 1 + random.below(5)
      pieces.push(text.slice(at, at + size))
      at += size
    }
    const { rows: found, refusals } = csv(pieces, delimiter)
    assert.deepStrictEqual(refusals, [])
    assert.deepStrictEqual(found, rows)
  },
  { arbitrary: { runs: 2000 } },
)

it.prop(
  "CsvReader reports the same for damaged text however it is split",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const text = random.list(30, () => random.pick(['"', ",", "\n", "a", '""', "\r\n", " ", "bc"])).join("")
    const at = random.below(text.length + 1)
    assert.deepStrictEqual(csv([text.slice(0, at), text.slice(at)]), csv([text]))
    assert.deepStrictEqual(csv([...text]).refusals, csv([text]).refusals)
  },
  { arbitrary: { runs: 3000 } },
)

it("CsvReader reports lines and columns across quoted line breaks", () => {
  const { records } = csv(['a,b\n"x\ny",c\n\nd,"e"\n'])
  assert.deepStrictEqual(
    records.map(({ line, columns }) => [line, columns]),
    [
      [1, [1, 3]],
      [2, [1, 4]],
      [5, [1, 3]],
    ],
  )
})

it("CsvReader keeps a quote inside an unquoted cell and refuses text after a closing one", () => {
  const { rows, refusals } = csv(['5" nail,b\n"x"y,c\nd,e'])
  assert.deepStrictEqual(rows, [
    ['5" nail', "b"],
    ["d", "e"],
  ])
  assert.deepStrictEqual(refusals, [{ line: 2, column: 4, reason: "text follows a closing quote" }])
})

it("CsvReader reports a file that ends within a line, and where an unclosed quote was opened", () => {
  assert.deepStrictEqual(
    csv(["a,b\nc,"]).records.map(({ cells, last }) => [cells, last]),
    [
      [["a", "b"], false],
      [["c", ""], true],
    ],
  )
  const { refusals } = csv(['a,b\nc,"d\ne,f\n'])
  assert.deepStrictEqual(refusals, [{ line: 2, column: 3, reason: "a quote opened here is never closed" }])
})

it("CsvReader counts each line break of any kind once, inside and outside quotes", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const text = ["a", `"b${end}${end}c"`, "", "d,e"].join(end)
    for (const pieces of [[text], [...text]]) {
      const { records } = csv(pieces)
      assert.deepStrictEqual(
        records.map(({ line, columns, last }) => [line, columns, last]),
        [
          [1, [1], false],
          [2, [1], false],
          [6, [1, 3], true],
        ],
        JSON.stringify(end),
      )
    }
  }
  const mixed = csv(['"a\n\r\n\r"x\n'])
  assert.deepStrictEqual(mixed.refusals, [{ line: 4, column: 2, reason: "text follows a closing quote" }])
})

it("CsvReader skips an empty line, and keeps an empty cell at the end of the file", () => {
  assert.deepStrictEqual(csv(["\n\na\n\n"]).rows, [["a"]])
  assert.deepStrictEqual(csv(["a,\n,b\n,"]).rows, [
    ["a", ""],
    ["", "b"],
    ["", ""],
  ])
  assert.deepStrictEqual(csv(["a,"]).records[0]!.columns, [1, 3])
  assert.deepStrictEqual(csv([""]).rows, [])
  assert.deepStrictEqual(csv(['a\n""']).rows, [["a"], [""]])
})

it("CsvReader refuses a line once, however many errors it has, and reads the next", () => {
  const { rows, refusals } = csv(['"a"b,"c"d\ne,f\n"g"h'])
  assert.deepStrictEqual(rows, [["e", "f"]])
  assert.deepStrictEqual(
    refusals.map(({ line, column }) => [line, column]),
    [
      [1, 4],
      [3, 4],
    ],
  )
})

it("CsvReader leaves out Ctrl-Z after the last line, the end of a text in DOS, but in no cell", () => {
  for (const end of ["\u001A", "\u001A".repeat(128)])
    for (const pieces of [[`a,b\r\n1,2\r\n${end}`], [...`a,b\r\n1,2\r\n${end}`]])
      assert.deepStrictEqual(csv(pieces).rows, [
        ["a", "b"],
        ["1", "2"],
      ])
  assert.deepStrictEqual(csv(["a\n\u001A\n\u001Ab"]).rows, [["a"], ["\u001A"], ["\u001Ab"]])
  assert.deepStrictEqual(csv(["a,\u001A"]).rows, [["a", "\u001A"]])
})
