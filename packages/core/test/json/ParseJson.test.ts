import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { describe } from "vitest"
import { JsonNumber } from "../../src/json/Json.ts"
import type { Json } from "../../src/json/Json.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { emptyJsonNotes, jsonErrorInWords, MAX_JSON_DEPTH, parseJson } from "../../src/json/ParseJson.ts"
import { Random, Seed } from "../intake/Random.ts"

const value = (text: string): Json => Result.getOrThrow(parseJson(text))
const written = (text: string): string => jsonText(value(text))
const failure = (text: string) => {
  const parsed = parseJson(text)
  assert.isTrue(Result.isFailure(parsed), text)
  return Result.isFailure(parsed) ? parsed.failure : undefined!
}

const NUMBERS = ["0", "-0", "1.0", "1", "12345678901234567890", "1e400", "1E+2", "0.10", "-1.5e-7", "1e131071", "3"]
const SPACES = ["", "", "", " ", "\n", "\t ", "\r\n"]
const PIECES: ReadonlyArray<readonly [sent: string, text: string]> = [
  ["a", "a"],
  ["ключ", "ключ"],
  ["\\u0434", "д"],
  ["\\n", "\n"],
  ["\\\\", "\\"],
  ['\\"', '"'],
  ["\\/", "/"],
  ["😀", "😀"],
  ["\\ud83d\\ude00", "😀"],
  ["\\uD83D", "\ud83d"],
  ["\\u0000", "\0"],
  ["\udc00", "\udc00"],
  ["\u2028", "\u2028"],
  ["__proto__", "__proto__"],
  ["7", "7"],
]

/** A text of a random value, and the text expected from it. */
const sample = (random: Random, depth: number): readonly [sent: string, expected: string] => {
  const space = () => random.pick(SPACES)
  const string = () => {
    const pieces = random.list(3, () => random.pick(PIECES))
    const text = pieces.map(([, meant]) => meant).join("")
    return [pieces.map(([sent]) => sent).join(""), text.toWellFormed().replaceAll("\0", "\uFFFD")] as const
  }
  switch (random.below(depth === 0 ? 4 : 7)) {
    case 0: {
      const token = random.pick(NUMBERS)
      return [token, token]
    }
    case 1: {
      const word = random.pick(["true", "false", "null"])
      return [word, word]
    }
    case 2:
    case 3: {
      const [sent, text] = string()
      return [`"${sent}"`, JSON.stringify(text)]
    }
    case 4: {
      const items = random.list(4, () => sample(random, depth - 1))
      return [
        `[${items.length === 0 ? space() : items.map(([sent]) => space() + sent + space()).join(",")}]`,
        `[${items.map(([, text]) => text).join(",")}]`,
      ]
    }
    default: {
      const members = new Map<string, string>()
      const sent = random.list(5, () => {
        const [key, text] = string()
        const [member, expected] = sample(random, depth - 1)
        if (!members.has(text) || !text.includes("\uFFFD")) members.set(text, expected)
        else {
          let count = 2
          while (members.has(text + count)) count++
          members.set(text + count, expected)
        }
        return `${space()}"${key}"${space()}:${space()}${member}${space()}`
      })
      return [
        `{${sent.length === 0 ? space() : sent.join(",")}}`,
        `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`,
      ]
    }
  }
}

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

describe("parseJson", () => {
  it.prop(
    "parseJson restores any text token for token, in the order of keys",
    [Seed],
    ([seed]) => {
      const [sent, expected] = sample(new Random(seed), 5)
      assert.strictEqual(written(sent), expected)
      assert.strictEqual(written(expected), expected)
    },
    { arbitrary: { runs: 3000 } },
  )

  it.prop(
    "parseJson agrees with JSON.parse on whether a damaged text is JSON",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      const [sent] = sample(random, 4)
      const at = random.below(sent.length + 1)
      const damaged =
        sent.slice(0, at) +
        random.pick(["", "{", "}", "[", "]", ",", ":", '"', "\\", "0", "-", "e", ".", "\n", "\0", "t", "\u00a0"]) +
        sent.slice(at + random.below(2))
      let valid = true
      try {
        JSON.parse(damaged)
      } catch {
        valid = false
      }
      assert.strictEqual(Result.isSuccess(parseJson(damaged)), valid, JSON.stringify(damaged))
    },
    { arbitrary: { runs: 5000 } },
  )

  it("parseJson keeps the last of equal keys at the position of the first", () => {
    assert.strictEqual(written('{"a":1,"b":2,"a":3}'), '{"a":3,"b":2}')
  })

  it("parseJson keeps __proto__, the empty key and index-like keys at their positions", () => {
    const text = '{"b":1,"10":2,"":3,"__proto__":{"x":4},"2":5,"constructor":6}'
    assert.strictEqual(written(text), text)
  })

  it("parseJson keeps keys distinct that U+FFFD has made equal", () => {
    assert.strictEqual(
      written('{"a\\u0000":1,"a\\ud800":2,"a\uFFFD2":3,"a\\udfff":4}'),
      '{"a\uFFFD":1,"a\uFFFD2":2,"a\uFFFD22":3,"a\uFFFD3":4}',
    )
    // With names that are already taken, before and after.
    assert.strictEqual(
      written('{"a\uFFFD2":0,"a\uFFFD3":1,"a\\u0000":2,"a\\ud800":3,"a\\udfff":4,"b\uFFFD":5,"b\\u0000":6}'),
      '{"a\uFFFD2":0,"a\uFFFD3":1,"a\uFFFD":2,"a\uFFFD4":3,"a\uFFFD5":4,"b\uFFFD":5,"b\uFFFD2":6}',
    )
  })

  it("parseJson stays fast when U+FFFD makes tens of thousands of keys equal", () => {
    const keys = Array.from({ length: 60_000 }, () => '"\\udc00":1')
    assert.strictEqual((value(`{${keys.join(",")}}`) as ReadonlyMap<string, Json>).size, 60_000)
  })

  it("parseJson replaces U+0000 and lone surrogates by U+FFFD and counts them", () => {
    const notes = emptyJsonNotes()
    const parsed = parseJson('["\\u0000\\uD800a\udfff","\\ud83d\\ude00"]', { notes })
    assert.strictEqual(jsonText(Result.getOrThrow(parsed)), '["\uFFFD\uFFFDa\uFFFD","😀"]')
    assert.strictEqual(notes.replaced, 3)
  })

  it("parseJson records where the value and the items of its list begin", () => {
    const notes = emptyJsonNotes()
    parseJson('\uFEFF [ 1,{"a":[2]},\n"x"]', { notes })
    assert.strictEqual(notes.valueOffset, 1)
    assert.deepStrictEqual(notes.itemOffsets, [3, 5, 16])
  })

  it("parseJson keeps the token of a number that would expand to 131,072 digits", () => {
    assert.deepStrictEqual(value("1e131071"), new JsonNumber("1e131071"))
  })

  it("parseJson accepts 512 levels and refuses 513, and 100,000 without a crash", () => {
    assert.strictEqual(written(nested(MAX_JSON_DEPTH)), nested(MAX_JSON_DEPTH))
    assert.strictEqual(failure(nested(513)).offset, 512)
    assert.strictEqual(failure('{"a":'.repeat(100_000)).reason, "the text nests deeper than 512 levels")
    assert.isTrue(Result.isSuccess(parseJson(nested(100_000), { maxDepth: 100_000 })))
    assert.strictEqual(jsonText(Result.getOrThrow(parseJson(nested(100_000), { maxDepth: 100_000 }))), nested(100_000))
  })

  it.for([
    ["", "a value was expected, the text ends here", 0, 1, 1],
    ['{"a":1,}', 'a key in double quotes was expected, found "}"', 7, 1, 8],
    ['{"a" 1}', 'a colon after the key was expected, found "1"', 5, 1, 6],
    ["{\n  'a': 1}", `a key in double quotes was expected, found "'"`, 4, 2, 3],
    ["[1\r\n,2\r,\n]", 'a value was expected, found "]"', 9, 4, 1],
    ['["a', "the text ends inside the string that begins at offset 1", 3, 1, 4],
    ['"a\nb"', "the control character U+000A must be escaped in a string", 2, 1, 3],
    ['"\\x41"', "a backslash that is not a JSON escape", 1, 1, 2],
    ['"\\u12g4"', "\\u without four hexadecimal digits after it", 1, 1, 2],
    ["01", "a number may not begin with 0", 0, 1, 1],
    ["[1.]", 'a digit after the decimal point was expected, found "]"', 3, 1, 4],
    ["1e+", "a digit in the exponent was expected, the text ends here", 3, 1, 4],
    ["{} 😀", 'the end of the text was expected, found "😀"', 3, 1, 4],
    ["\uFEFF[nul]", 'a value was expected, found "n"', 1, 1, 2],
    ["[1\u00a0]", 'a comma or ] after the item was expected, found "\u00a0"', 2, 1, 3],
    ['{"a":1]', 'a comma or } after the value was expected, found "]"', 6, 1, 7],
    ["\0", "a value was expected, found U+0000", 0, 1, 1],
  ] as const)("parseJson names the error in %j and its position", ([text, reason, offset, line, column]) => {
    assert.deepStrictEqual(failure(text), { _tag: "JsonSyntaxError", reason, offset, line, column })
  })

  it("parseJson refuses every raw control character in a string, and no other character", () => {
    for (let code = 0; code < 0x100; code++) {
      assert.strictEqual(
        Result.isSuccess(parseJson(`"${code === 34 || code === 92 ? "\\" : ""}${String.fromCharCode(code)}"`)),
        code >= 32,
        String(code),
      )
    }
  })

  it.each([
    ...'@ @1 1@ [@1] [1@] [1,@] [@ {@ {@} {@"a":1} {"a"@1} {"a":@ {"a":1@} {"a":1,@}'.split(" "),
    ...'"@" "@ "\\@" "\\@0041" "\\u@041" "\\u0@41" "\\u00@1" "\\u004@" "\\u004@1"'.split(" "),
    ..."-@ 0@ -0@ 1@ 12@ 1.@ 1.5@ 1.5@e1 1e@ 1E@5 1e+@ 1e-@ 1e5@ 1e+5@ t@ue fals@ nul@ null@ [null@]".split(" "),
  ])("parseJson agrees with JSON.parse on each character in place of the @ in %s", (text) => {
    for (let code = 0; code < 0x180; code++) {
      const sent = text.replace("@", String.fromCharCode(code))
      let expected: unknown
      try {
        expected = JSON.parse(sent)
      } catch {}
      const parsed = parseJson(sent)
      assert.strictEqual(Result.isSuccess(parsed), expected !== undefined, JSON.stringify(sent))
      if (typeof expected === "string")
        assert.strictEqual(Result.getOrThrow(parsed), expected.replaceAll("\0", "\uFFFD"))
    }
  })

  it.for([
    ["1. ", "U+0020"],
    ["[!", '"!"'],
    ["[\x7f", "U+007F"],
    ["[\x80", '"\x80"'],
    ["[\ud7ff", '"\ud7ff"'],
    ["[\ud800", "U+D800"],
    ["[\udfff", "U+DFFF"],
    ["[\ue000", '"\ue000"'],
    ["[\ufffc", '"\ufffc"'],
    ["[\ufffd", "U+FFFD"],
  ] as const)("parseJson reports for %j that it found %s, and shows no invisible character", ([text, found]) => {
    assert.isTrue(failure(text).reason.endsWith(` was expected, found ${found}`))
  })

  it("parseJson replaces a lone surrogate, escaped or not, and no other character", () => {
    for (let code = 0xd700; code <= 0xe0ff; code++) {
      const expected = String.fromCharCode(code).toWellFormed()
      const escaped = `"\\u${code.toString(16)}"`
      assert.deepStrictEqual([value(escaped), value(`"${String.fromCharCode(code)}"`)], [expected, expected])
    }
  })

  it.for([
    ["1", 1],
    ['"x"', 1],
    ["{}", 1],
    ["[]", 1],
    ["[1,2]", 6],
    ['{"a":1}', 7],
    ['[{"a":1},{}]', 12],
    ['{"a":[1]}', 11],
  ] as const)("parseJson reports how much memory the value %s takes", ([text, cells]) => {
    const notes = emptyJsonNotes()
    parseJson(text, { notes })
    assert.strictEqual(notes.cells, cells)
  })

  it("jsonErrorInWords returns one sentence with the position", () => {
    assert.strictEqual(
      jsonErrorInWords(failure('{\n"a":}')),
      'not valid JSON: a value was expected, found "}", at line 2, column 5 (offset 6)',
    )
  })
})
