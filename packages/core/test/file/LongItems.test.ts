/** Lines and items of the maximum length, and longer ones: megabytes that are read only up to a limit. */
import { assert, it } from "vitest"
import { MAX_ITEM_LENGTH } from "../../src/file/FileItem.ts"
import { csv, list, ndjson, pointed } from "./readPieces.ts"

it("CsvReader limits the length of a line, so that an unclosed quote does not load the file into memory", () => {
  const piece = "x".repeat(100_000)
  const quote = csv(['a\n"', ...Array.from({ length: 20 }, () => piece)])
  assert.strictEqual(quote.refusals.length, 1)
  assert.match(quote.refusals[0]!.reason, new RegExp(`longer than ${MAX_ITEM_LENGTH} characters`))
  const long = csv(["a\n", ...Array.from({ length: 20 }, () => piece), "\nb\n"])
  assert.deepStrictEqual(long.rows, [["a"], ["b"]])
  assert.strictEqual(long.refusals[0]!.line, 2)
  const wide = csv([",".repeat(20_000), "\na\n"])
  assert.match(wide.refusals[0]!.reason, /more than 16384 cells/)
  assert.deepStrictEqual(wide.rows, [["a"]])
})

it("CsvReader accepts cells and characters of a line up to the limits, and not one more", () => {
  assert.lengthOf(csv([",".repeat(16_383)]).rows[0]!, 16_384)
  assert.deepInclude(csv(["a\n", ",".repeat(16_384)]).refusals[0]!, { line: 2, column: null })
  const most = "x".repeat(MAX_ITEM_LENGTH)
  assert.deepStrictEqual(csv([most]).refusals, [])
  const more = csv([`a\n${most}x\nb`])
  assert.deepStrictEqual([more.rows, more.refusals[0]!.line], [[["a"], ["b"]], 2])
  const quote = csv([`a\nb,"${most}`, 'x"\nc\n'])
  assert.deepInclude(quote.refusals[0]!, { line: 2, column: 3 })
  assert.deepStrictEqual(quote.rows, [["a"]])
})

it("JsonListReader refuses an item longer than intake's limit without buffering it", () => {
  const { items, refusals } = list('[{"a":"', ...Array.from({ length: 20 }, () => "x".repeat(100_000)), '"},{"b":1}]')
  assert.deepStrictEqual(items, ['{"b":1}'])
  assert.match(refusals[0]!.reason, new RegExp(`longer than ${MAX_ITEM_LENGTH}`))
})

it("PointedReader refuses an item over intake's limit and names its number, whatever makes it long", () => {
  const long = {
    text: `{"a":"${"x".repeat(MAX_ITEM_LENGTH)}"}`,
    digits: `{"a":${"1".repeat(MAX_ITEM_LENGTH)}}`,
    key: `{"${"k".repeat(MAX_ITEM_LENGTH)}":null}`,
    many: `{"a":[${'[{"b":null}],'.repeat(MAX_ITEM_LENGTH / 8)}1]}`,
  }
  for (const [name, item] of Object.entries(long)) {
    const { items, refusals } = pointed("/items", `{"items":[{"n":1},${item},{"n":2}]}`)
    assert.deepStrictEqual(items, ['{"n":1}', '{"n":2}'], name)
    assert.deepStrictEqual(refusals, [
      { line: 2, column: null, reason: `item 2 is longer than ${MAX_ITEM_LENGTH} characters` },
    ])
  }
})

it("PointedReader refuses a text with more values than allowed before creating any", () => {
  const reasonOf = (text: string) => pointed("/a", text).refusals[0]?.reason
  assert.match(reasonOf(`{"a":[${'{"b":1},'.repeat(1_000_001)}{}]}`) ?? "", /may contain at most 4000000 values/)
  assert.match(reasonOf(`{"a":[${"1,".repeat(4_000_001)}1]}`) ?? "", /may contain at most 4000000 values/)
  // The contents of a string are not values.
  const quoted = `{"a":[{"b":"${'{,[\\"'.repeat(900_000)}"}]}`
  assert.match(reasonOf(quoted) ?? "", /item 1 is longer/)
  assert.strictEqual(reasonOf(`{"a":[${'{"b":1},'.repeat(10_000)}{}]}`), undefined)
})

it("every reader accepts items up to the limit, and reports the beginning of a longer one", () => {
  const item = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`
  const [most, more] = [item(MAX_ITEM_LENGTH), item(MAX_ITEM_LENGTH + 1)]
  const lengths = { list: (text: string) => list(`[1,\n${text},{}]`), one: (text: string) => list(`\n${text}`) }
  for (const [name, of] of Object.entries({ ...lengths, lines: (text: string) => ndjson(`{}\n${text}\n{}`) })) {
    assert.include(of(most).items, most, name)
    const { items, refusals } = of(more)
    assert.isTrue(items.every((text) => text === "{}"))
    assert.deepInclude(refusals.at(-1)!, { line: 2, column: 1 })
    assert.match(refusals.at(-1)!.reason, /longer than 1048576 characters$/)
  }
  const pieces = ndjson(more.slice(0, -9), more.slice(-9), "\n{}\n", more)
  assert.deepStrictEqual(pieces.items, ["{}"])
  assert.deepStrictEqual(
    pieces.refusals.map(({ line }) => line),
    [1, 3],
  )
})
