import { assert, it } from "@effect/vitest"
import { JsonLinesReader, JsonListReader } from "../../src/file/JsonReader.ts"
import { isPointer, PointedReader } from "../../src/file/PointedReader.ts"
import { Random, Seed } from "../intake/Random.ts"
import { list, ndjson, pointed } from "./readPieces.ts"

const PIECES = ['"a,]}"', '"\\"[{"', "1.0", "12345678901234567890", "null", "[1,[2]]", '{"x":{}}', '"\\\\"', "true"]

it.prop(
  "JsonListReader returns every item of a list however the text is split",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const space = () => random.pick(["", "", " ", "\n", "\r\n\t"])
    const items = random.list(6, () => {
      const members = random.list(4, () => `"k${random.below(99)}":${random.pick(PIECES)}`)
      return `{${[...new Map(members.map((member) => [member.split(":")[0], member])).values()].join(",")}}`
    })
    const text = `${space()}[${items.map((item) => space() + item + space()).join(",")}]${space()}`
    const pieces: Array<string> = []
    for (let at = 0; at < text.length;) {
      const size = 1 + random.below(9)
      pieces.push(text.slice(at, at + size))
      at += size
    }
    const found = list(...pieces)
    assert.deepStrictEqual(found.refusals, [])
    assert.deepStrictEqual(found.items, items)
  },
  { arbitrary: { runs: 2000 } },
)

it("JsonListReader treats a single object as one item, across several lines", () => {
  assert.deepStrictEqual(list('\uFEFF{"a":\n', '{"b":[1]}}\n').items, ['{"a":{"b":[1]}}'])
})

it("JsonListReader refuses an item that is not an object by line and column, and continues after it", () => {
  const { items, lines, refusals } = list('[{"a":1},\n 2, "x",\n{"b":1e},\n{"c":3}]')
  assert.deepStrictEqual(items, ['{"a":1}', '{"c":3}'])
  assert.deepStrictEqual(lines, [1, 4])
  assert.deepStrictEqual(
    refusals.map(({ line, column }) => [line, column]),
    [
      [2, 2],
      [2, 5],
      [3, 8],
    ],
  )
})

it("JsonListReader refuses an unclosed list, missing items, and text after the end", () => {
  const reasons = (...pieces: ReadonlyArray<string>) => list(...pieces).refusals.map(({ reason }) => reason)
  assert.deepStrictEqual(reasons("[]"), [])
  assert.deepStrictEqual(reasons(""), ["the file is empty"])
  assert.deepStrictEqual(reasons('[{"a":1}'), ["the file ends inside the list, which is not closed"])
  assert.deepStrictEqual(reasons('[{"a":1},]'), ["a value was expected between commas"])
  assert.deepStrictEqual(reasons('[{"a":1}] x'), ["there is text after the end of the list"])
  assert.strictEqual(reasons("[}]").length, 1)
})

it("JsonLinesReader reads one value per line, skips empty lines, and accepts a last line without a line break", () => {
  const { items, lines, refusals } = ndjson('{"a":1}\r\n\n{"b"', ':0.10}\n3\n{"c":2}')
  assert.deepStrictEqual(
    [items, lines],
    [
      ['{"a":1}', '{"b":0.10}', '{"c":2}'],
      [1, 3, 5],
    ],
  )
  assert.deepStrictEqual(refusals, [{ line: 4, column: 1, reason: "not an object" }])
})

it("PointedReader reads the list at its pointer, or reports what is there instead", () => {
  const text = '{"data":{"a/b":[{"n":1.0}],"x":1},"m~n":[[{"n":2}]]}'
  assert.deepStrictEqual(pointed("/data/a~1b", text).items, ['{"n":1.0}'])
  assert.deepStrictEqual(pointed("/m~0n/0", text).items, ['{"n":2}'])
  assert.match(pointed("/data/none", text).refusals[0]!.reason, /there is nothing at/)
  assert.match(pointed("/data/x", text).refusals[0]!.reason, /not a list/)
  assert.isTrue(isPointer("") && isPointer("/") && isPointer("/a/0/b~0~1"))
  assert.isFalse(isPointer("a") || isPointer("/a~2") || isPointer("/a~"))
})

it("JsonListReader reports where an item begins and where it is invalid, across lines", () => {
  const { refusals } = list('\n [ {"a":1},\r\n\t7,\n  {"b":\n   1e},  "]" ,')
  assert.deepStrictEqual(
    refusals.map(({ line, column }) => [line, column]),
    [
      [3, 2],
      [5, 6],
      [5, 10],
      [5, 15],
    ],
  )
  assert.deepStrictEqual(list(" \n"), {
    items: [],
    lines: [],
    refusals: [{ line: 2, column: 1, reason: "the file is empty" }],
  })
})

it("JsonListReader refuses text after the list once, and a list without a value between its commas", () => {
  const behind = list('[{"a":1}]\n x [2] y')
  assert.deepStrictEqual(behind.refusals, [{ line: 2, column: 2, reason: "there is text after the end of the list" }])
  assert.deepStrictEqual(behind.items, ['{"a":1}'])
  for (const text of ["[,]", '[{"a":1},,{"b":2}]', '[{"a":1}, ]', '[,{"a":1}]'])
    assert.match(list(text).refusals[0]!.reason, /a value was expected between commas/, text)
  assert.deepStrictEqual(list("[ \n ]").refusals, [])
  assert.deepStrictEqual(list('{"a":1}', " 2").items, [])
})

it("PointedReader reports where its text is invalid JSON, and which items are not objects", () => {
  assert.deepInclude(pointed("/a", '{"a":\n [1e]}').refusals[0]!, { line: 2, column: 5 })
  const { items, lines, refusals } = pointed("/a", '{"a":[{"n":1},null,"x",[],{"n":2}]}')
  assert.deepStrictEqual(
    [items, lines],
    [
      ['{"n":1}', '{"n":2}'],
      [1, 5],
    ],
  )
  assert.deepStrictEqual(
    refusals.map(({ line, column }) => [line, column]),
    [
      [2, null],
      [3, null],
      [4, null],
    ],
  )
})

it("atPointer follows objects and lists by RFC 6901, and returns nothing beyond their end", () => {
  const text = '{"":[{"n":0}],"a":{"":[{"n":1}],"0":[{"n":2}]},"l":[[{"n":3}],null],"~1":[{"n":4}],"n":null}'
  const at = (pointer: string) => pointed(pointer, text).items[0]
  assert.deepStrictEqual(
    ["/", "/a/", "/a/0", "/l/0", "/~01"].map(at),
    [0, 1, 2, 3, 4].map((n) => `{"n":${n}}`),
  )
  for (const pointer of ["/l/00", "/l/-", "/l/2", "/l/0x", "/l/x0", "/n/a", "/l/1/a", "/b/c"])
    assert.match(pointed(pointer, text).refusals[0]!.reason, /there is nothing at/, pointer)
})

it("JsonLinesReader and JsonListReader report items in which an escape became U+FFFD", () => {
  const lines: Array<number> = []
  const sink = { item: () => {}, refuse: () => {}, replaced: (line: number) => lines.push(line) }
  const text = String.raw`{"a":"\uD800"}|{"a":"\u0000"}|{"a":"\ud83d\ude00"}|{"a":"\\ud800"}|{"\udc00":1}`.split("|")
  for (const reader of [new JsonLinesReader(sink), new JsonListReader(sink)]) {
    lines.length = 0
    reader.push(reader instanceof JsonListReader ? `[${text.join(",\n")}]` : text.join("\n"))
    reader.end()
    assert.deepStrictEqual(lines, [1, 2, 5])
  }
  lines.length = 0
  const atPlace = new PointedReader(sink, "/d")
  atPlace.push(`{"d":[${text.join()}]}`)
  atPlace.end()
  assert.deepStrictEqual(lines, [1, 2, 5])
})

it("JSON readers leave out Ctrl-Z after the end of a text of DOS", () => {
  assert.deepInclude(ndjson('{"a":1}\r\n\u001A'), { items: ['{"a":1}'], refusals: [] })
  assert.deepInclude(list('[{"a":1}]\r\n\u001A'), { items: ['{"a":1}'], refusals: [] })
  assert.lengthOf(ndjson('\u001A\n{"a":1}').refusals, 1)
})
