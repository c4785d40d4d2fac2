import { assert, it } from "@effect/vitest"
import { CsvReader, type CsvRecord } from "../../src/file/CsvReader.ts"
import { MAX_ITEM_LENGTH, type Refusal } from "../../src/file/FileItem.ts"
import { Random, Seed } from "../intake/Random.ts"

const read = (pieces: ReadonlyArray<string>, delimiter = ",") => {
  const records: Array<CsvRecord> = []
  const refusals: Array<Refusal> = []
  const reader = new CsvReader(
    delimiter,
    (record) => records.push(record),
    (refusal) => refusals.push(refusal),
  )
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return { records, refusals, rows: records.map(({ cells }) => cells) }
}

const CELLS = ["", "a", "007", 'say "hi"', "a,b", "two\nlines", "cr\rlf\r\n", '"', "Ёж", "😀", " spaced ", ";"]
const ENDS = ["\n", "\r\n", "\r"]

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`

it.prop(
  "CsvReader restores any cells however the text is split",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const delimiter = random.pick([",", ";", "\t", "|"])
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
    const { rows: found, refusals } = read(pieces, delimiter)
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
    assert.deepStrictEqual(read([text.slice(0, at), text.slice(at)]), read([text]))
    assert.deepStrictEqual(read([...text]).refusals, read([text]).refusals)
  },
  { arbitrary: { runs: 3000 } },
)

it("CsvReader reports lines and columns across quoted line breaks", () => {
  const { records } = read(['a,b\n"x\ny",c\n\nd,"e"\n'])
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
  const { rows, refusals } = read(['5" nail,b\n"x"y,c\nd,e'])
  assert.deepStrictEqual(rows, [
    ['5" nail', "b"],
    ["d", "e"],
  ])
  assert.deepStrictEqual(refusals, [{ line: 2, column: 4, reason: "text follows a closing quote" }])
})

it("CsvReader reports an end of file within a line, and where an unclosed quote was opened", () => {
  assert.deepStrictEqual(
    read(["a,b\nc,"]).records.map(({ cells, last }) => [cells, last]),
    [
      [["a", "b"], false],
      [["c", ""], true],
    ],
  )
  const { refusals } = read(['a,b\nc,"d\ne,f\n'])
  assert.deepStrictEqual(refusals, [{ line: 2, column: 3, reason: "a quote opened here is never closed" }])
})

it("CsvReader limits the length of a line, so that an unclosed quote does not load the file into memory", () => {
  const piece = "x".repeat(100_000)
  const quote = read(['a\n"', ...Array.from({ length: 20 }, () => piece)])
  assert.strictEqual(quote.refusals.length, 1)
  assert.match(quote.refusals[0]!.reason, new RegExp(`longer than ${MAX_ITEM_LENGTH} characters`))
  const long = read(["a\n", ...Array.from({ length: 20 }, () => piece), "\nb\n"])
  assert.deepStrictEqual(long.rows, [["a"], ["b"]])
  assert.strictEqual(long.refusals[0]!.line, 2)
  const wide = read([",".repeat(20_000), "\na\n"])
  assert.match(wide.refusals[0]!.reason, /more than 16384 cells/)
  assert.deepStrictEqual(wide.rows, [["a"]])
})
