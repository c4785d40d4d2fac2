import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { charsetOf, decode } from "../../src/text/Charset.ts"
import { CharsetDetector, namedCharset, TextDecoding } from "../../src/text/FileCharset.ts"
import { Random, Seed } from "../intake/Random.ts"

const decide = (...chunks: ReadonlyArray<Uint8Array>) => {
  const witness = new CharsetDetector()
  for (const chunk of chunks) witness.see(chunk)
  return witness.decide()
}

const TEXT = "Имя;Город\r\nЁж;Тверь\r\nАнна;Орёл\r\n"

it("CharsetDetector detects charsets by byte order mark and by bytes", () => {
  assert.deepInclude(decide(Buffer.from(TEXT)), { name: "utf-8", decidedBy: "bytes" })
  assert.deepInclude(decide(Buffer.from(`\uFEFF${TEXT}`)), { name: "utf-8", decidedBy: "mark" })
  assert.deepInclude(decide(iconv.encode(TEXT, "win1251")), { name: "windows-1251", decidedBy: "bytes" })
  assert.deepInclude(decide(iconv.encode("Größe;Zoë\nMünchen;Café\n", "win1252")), { name: "windows-1252" })
  assert.deepInclude(decide(iconv.encode(TEXT, "utf-16le", { addBOM: true })), { name: "utf-16le", decidedBy: "mark" })
  assert.deepInclude(decide(iconv.encode("a;b\n1;2\n", "utf-16be", { addBOM: false })), {
    name: "utf-16be",
    decidedBy: "bytes",
  })
  assert.strictEqual(decide().name, "utf-8")
})

const WIDE_TEXTS = [
  TEXT,
  "a,b\n1,2\n",
  "姓名;城市\r\n王一;北京\r\n",
  "名前,町\n花子,東京\n",
  "name\tn\nŁukasz\t1\n",
  "😀;a\n😀;b\n",
  "a",
  "ab\n",
  "שם;עיר\rדן;חיפה\r",
  "x|y\n\u4e00|\u4e00\n",
  "Größe;Zoë\n",
]

it("CharsetDetector detects UTF-16 and UTF-32 in both byte orders when the text has no mark", () => {
  for (const text of WIDE_TEXTS)
    for (const codec of ["utf-16le", "utf-16be", "utf-32le", "utf-32be"])
      for (const addBOM of [true, false]) {
        const bytes = iconv.encode(text, codec, { addBOM })
        const charset = decide(bytes.subarray(0, 3), bytes.subarray(3))
        assert.strictEqual(charset.name, codec, JSON.stringify([text, codec, addBOM]))
        const decoding = new TextDecoding(charset)
        const pieces = [decoding.write(bytes.subarray(0, 5)), decoding.write(bytes.subarray(5)), decoding.end()]
        assert.deepStrictEqual([pieces.join(""), decoding.replaced], [text, 0])
      }
})

const MARKS = { le: [0xff, 0xfe], be: [0xfe, 0xff], wide: [0xff, 0xfe, 0, 0], utf8: [0xef, 0xbb, 0xbf] }

it.each([
  ["le", "utf8", "utf-8"],
  ["be", "utf8", "utf-8"],
  ["wide", "utf8", "utf-8"],
  ["le", "win1251", "windows-1251"],
  ["le", "utf-16be", "utf-16be"],
  ["be", "utf-16le", "utf-16le"],
  ["utf8", "utf-16le", "utf-16le"],
  ["utf8", "win1251", "windows-1251"],
] as const)("CharsetDetector skips a mark of %s before a text in %s", (mark, codec, name) => {
  const bytes = Buffer.concat([Buffer.from(MARKS[mark]), iconv.encode(TEXT, codec)])
  for (const at of [0, 1, 2, 3, 7]) {
    const charset = decide(bytes.subarray(0, at), bytes.subarray(at))
    assert.deepInclude(charset, { name, decidedBy: "bytes", falseMark: MARKS[mark].length })
    const decoding = new TextDecoding(charset)
    const pieces = [decoding.write(bytes.subarray(0, at)), decoding.write(bytes.subarray(at)), decoding.end()]
    assert.deepStrictEqual([pieces.join(""), decoding.replaced], [TEXT, 0])
  }
})

it("CharsetDetector follows a mark if little speaks against it", () => {
  const broken = Buffer.concat([Buffer.from("\uFEFFИмя;a\n"), Buffer.of(0xd0, 0x0a)])
  assert.deepInclude(decide(broken), { name: "utf-8", decidedBy: "mark" })
  assert.deepInclude(decide(Buffer.from("\uFEFF")), { name: "utf-8", decidedBy: "mark" })
  const mark = Buffer.from(MARKS.le)
  assert.deepInclude(decide(Buffer.concat([mark, Buffer.from("a;b\n")])), { name: "utf-16le", decidedBy: "mark" })
  assert.deepInclude(decide(Buffer.concat([mark, Buffer.from("姓名姓名姓名", "utf16le")])), { name: "utf-16le" })
})

it("CharsetDetector reads a text that begins like a mark in its own charset", () => {
  assert.notStrictEqual(decide(iconv.encode("я;имя\n1;Анна\n", "win1251")).name, "utf-8")
  assert.deepInclude(decide(Buffer.of(0xff, 0x3b, 0x31)), { decidedBy: "bytes" })
})

it("CharsetDetector keeps a single-byte charset when a few bytes of the text are zero", () => {
  for (const text of ["a,b\n1,\0\n", "й,ц\n\0,1\n", "a;b\n\0;\n", "xx\0\0\0\0,yy\0\0\0\n".repeat(30), "\0"])
    assert.strictEqual(decide(Buffer.from(text)).name, "utf-8")
})

it("TextDecoding replaces a truncated last unit of UTF-16 or UTF-32", () => {
  for (const label of ["utf-16le", "utf-32be"]) {
    const charset = namedCharset(label)!
    const decoding = new TextDecoding(charset)
    const text = decoding.write(iconv.encode("ab", charset.codec).subarray(0, -1)) + decoding.end()
    assert.deepStrictEqual([text, decoding.replaced], ["a\uFFFD", 1])
  }
})

it("CharsetDetector takes bytes after a megabyte of ASCII into account", () => {
  const ascii = Buffer.alloc(1_048_576, "a,b\n")
  assert.strictEqual(decide(ascii, iconv.encode(TEXT, "win1251")).name, "windows-1251")
  assert.strictEqual(decide(ascii, Buffer.from("Ёж").subarray(0, 3)).name === "utf-8", false)
})

it.prop(
  "TextDecoding returns the same text however the bytes are split, without the byte order mark",
  [Seed],
  ([seed]) => {
    const random = new Random(seed)
    const codec = random.pick(["utf-8", "utf-16", "windows-1251"])
    const charset = namedCharset(codec)!
    const text = random
      .list(20, () => random.pick(["a", "Ё", "ж", "\n", '"', ...(codec === "windows-1251" ? [] : ["😀", "€"])]))
      .join("")
    const bytes = iconv.encode(text, charset.codec, { addBOM: codec !== "windows-1251" })
    const decoding = new TextDecoding(charset)
    let found = ""
    for (let at = 0; at < bytes.length;) {
      const size = 1 + random.below(3)
      found += decoding.write(bytes.subarray(at, at + size))
      at += size
    }
    found += decoding.end()
    assert.deepStrictEqual([found, decoding.replaced], [text, 0])
  },
  { arbitrary: { runs: 1000 } },
)

it("TextDecoding counts replaced characters, not U+FFFD that was sent", () => {
  const utf8 = new TextDecoding(namedCharset("utf-8")!)
  assert.strictEqual(utf8.write(Buffer.from([0x61, 0xff, 0x00, 0xef, 0xbf, 0xbd])), "a\uFFFD\uFFFD\uFFFD")
  assert.strictEqual(utf8.replaced, 2)
})

it("TextDecoding replaces and counts surrogates without their other half, but no pair that is split between pieces", () => {
  for (const codec of ["utf-16le", "utf-16be", "utf-32le", "utf-32be"]) {
    const whole = iconv.encode("a😀b", codec, { addBOM: false })
    for (let at = 0; at <= whole.length; at++) {
      const decoding = new TextDecoding(namedCharset(codec)!)
      const text = decoding.write(whole.subarray(0, at)) + decoding.write(whole.subarray(at)) + decoding.end()
      assert.deepStrictEqual([text, decoding.replaced], ["a😀b", 0], `${codec} ${at}`)
    }
  }
  for (const codec of ["utf-16le", "utf-16be"]) {
    const halves = Buffer.from("\uD83Da\uDE00\uD83D", "utf16le")
    const decoding = new TextDecoding(namedCharset(codec)!)
    const text = decoding.write(codec === "utf-16be" ? halves.swap16() : halves) + decoding.end()
    assert.deepStrictEqual([text, decoding.replaced], ["\uFFFDa\uFFFD\uFFFD", 3], codec)
  }
})

it("namedCharset knows the labels of the Encoding Standard, and no others", () => {
  assert.strictEqual(namedCharset("latin1")?.name, "windows-1252")
  assert.strictEqual(namedCharset("UTF-16BE")?.name, "utf-16be")
  assert.strictEqual(namedCharset("klingon"), null)
})

it("namedCharset accepts every trimmed spelling of UTF-16, and no text that merely contains one", () => {
  const named = (label: string) => namedCharset(label)?.name ?? null
  assert.deepStrictEqual(["utf16", " UTF-16 ", "utf-16le", "utf16be"].map(named), [
    "utf-16le",
    "utf-16le",
    "utf-16le",
    "utf-16be",
  ])
  for (const label of ["xutf-16", "utf-16x", "utf-16lebe"]) assert.isNull(named(label))
})

it("CharsetDetector and namedCharset report the reason for the charset", () => {
  for (const label of ["utf-8", "utf-16", "utf-16be", "koi8-r"])
    assert.strictEqual(namedCharset(label)?.decidedBy, "option")
  const wide = Buffer.from("a;b\n1;2\n", "utf16le")
  assert.deepInclude(decide(wide), { name: "utf-16le", decidedBy: "bytes" })
  assert.deepInclude(decide(Buffer.from(wide).swap16()), { name: "utf-16be", decidedBy: "bytes" })
  assert.deepInclude(decide(Buffer.of(0xfe, 0xff), Buffer.from(wide).swap16()), { name: "utf-16be", decidedBy: "mark" })
})

it("CharsetDetector recognizes only a complete byte order mark", () => {
  const name = (...bytes: ReadonlyArray<number>) => decide(Uint8Array.from(bytes)).name
  const letter = [0x61, 0x61, 0x61, 0x61]
  assert.strictEqual(name(0xfe, 0xff, 0x00, 0x61), "utf-16be")
  for (const [one, other] of [
    [0xff, 0x61],
    [0x61, 0xfe],
    [0xfe, 0x61],
    [0x61, 0xff],
  ] as const)
    assert.notMatch(name(one, other, ...letter), /utf-16/)
  for (const head of [
    [0xef, 0xbb, 0x61],
    [0xef, 0x61, 0xbf],
    [0x61, 0xbb, 0xbf],
  ])
    assert.notInclude(decide(Uint8Array.from([...head, ...letter])), { decidedBy: "mark" })
})

it("CharsetDetector detects UTF-16 when every second byte is zero and these are more than a fifth of all bytes", () => {
  const name = (text: string) => decide(Buffer.from(text, "latin1")).name
  assert.strictEqual(name("a\0b\0c\0d\0"), "utf-16le")
  assert.strictEqual(name("\0a\0b\0c\0d"), "utf-16be")
  // Exactly a fifth is not enough.
  assert.strictEqual(name("a\0bcdefghi"), "utf-8")
  assert.strictEqual(name("\0abcdefghi"), "utf-8")
  assert.strictEqual(name("a\0b\0cdefgh"), "utf-8")
  assert.strictEqual(name("\0a\0bcdefgh"), "utf-8")
  assert.strictEqual(name("a\0b\0c\0defg"), "utf-16le")
  assert.strictEqual(name("\0a\0b\0cdefg"), "utf-16be")
  assert.strictEqual(name("\0\0\0\0\0\0ab"), "utf-8")
  // A character whose low byte is zero, such as 一.
  assert.strictEqual(name("a\0b\0c\0d\0\0e"), "utf-16le")
  assert.strictEqual(name("\0a\0b\0c\0de\0"), "utf-16be")
})

it("TextDecoding counts invalid UTF-8, U+0000 and a truncated last character", () => {
  const utf8 = new TextDecoding(namedCharset("utf-8")!)
  assert.strictEqual(utf8.write(Buffer.from("\uFFFD\uFFFDa\0\0\uFFFD")), "\uFFFD\uFFFDa\uFFFD\uFFFD\uFFFD")
  assert.strictEqual(utf8.replaced, 2)
  assert.strictEqual(utf8.write(Buffer.from([0x62, 0xd0])) + utf8.end(), "b\uFFFD")
  assert.strictEqual(utf8.replaced, 3)
  const wide = new TextDecoding(namedCharset("utf-16le")!)
  assert.strictEqual(wide.write(Buffer.from("a\0\uFFFD", "utf16le")) + wide.end(), "a\uFFFD\uFFFD")
  assert.strictEqual(wide.replaced, 2)
})

it("CharsetDetector looks for UTF-16 in the first 4,096 bytes, in however many pieces they come", () => {
  const wide = Buffer.from("a".repeat(1_000), "utf16le")
  const ascii = Buffer.alloc(40_000, "a,b\n")
  assert.strictEqual(decide(Buffer.concat([wide, ascii])).name, "utf-16le")
  assert.strictEqual(decide(wide, ascii).name, "utf-16le")
  assert.strictEqual(decide(...Array.from(wide, (byte) => Uint8Array.of(byte)), ascii).name, "utf-16le")
  assert.strictEqual(decide(ascii, wide).name, "utf-8")
})

it("CharsetDetector detects UTF-8 whose characters are split between pieces or at the end of its sample", () => {
  const bytes = Buffer.from(`é${"x".repeat(262_141)}é`)
  assert.strictEqual(decide(bytes).name, "utf-8")
  assert.strictEqual(decide(bytes.subarray(0, 1), bytes.subarray(1, -1), bytes.subarray(-1)).name, "utf-8")
  // The file itself cuts the last character off.
  assert.strictEqual(decide(Buffer.from("café").subarray(0, -1)).name, "windows-1252")
})

it("CharsetDetector begins its sample 256 bytes before the first byte that is not ASCII", () => {
  const western = (text: string) => iconv.encode(text, "win1252")
  const ascii = Array.from({ length: 20 }, () => Buffer.alloc(65_536, "a,b\n"))
  assert.strictEqual(decide(...ascii, iconv.encode(TEXT, "win1251")).name, "windows-1251")
  assert.strictEqual(decide(western("5 €")).name, "windows-1252")
  // A one-letter word, which is western near a Latin word.
  assert.strictEqual(decide(western(`Paris${" ".repeat(251)}à`)).name, "windows-1252")
  assert.strictEqual(decide(western(`Paris${" ".repeat(256)}à`)).name, "windows-1251")
  assert.strictEqual(decide(western("à"), western(" Paris")).name, "windows-1252")
})

it("CharsetDetector samples at most 262,144 bytes", () => {
  const spaces = (count: number) => Buffer.alloc(count, " ")
  const german = iconv.encode("Müller", "win1252")
  const russian = iconv.encode("Привет всем", "win1251")
  assert.strictEqual(decide(german, spaces(200_000), spaces(62_138), russian).name, "windows-1252")
  assert.strictEqual(decide(Buffer.concat([german, spaces(262_138), russian])).name, "windows-1252")
  assert.strictEqual(
    decide(Buffer.concat([german, spaces(150_000)]), Buffer.concat([spaces(112_138), russian])).name,
    "windows-1252",
  )
  assert.strictEqual(decide(german, spaces(262_000), russian).name, "windows-1251")
})

it("TextDecoding makes no half pair of surrogates of damaged GB18030", () => {
  const bytes = Buffer.from([0xe3, 0x32, 0x9a, 0x36, 10, 0xfe, 0x39, 0xfe, 0x39, 10])
  assert.isFalse(iconv.decode(bytes, "gb18030").isWellFormed())
  assert.isTrue(new TextDecoding(namedCharset("gb18030")!).write(bytes).isWellFormed())
  assert.isTrue(decode(bytes, charsetOf("gb18030")!).text.isWellFormed())
})

it("CharsetDetector doubts UTF-16 that begins or ends as UTF-8, as two programs may write to one file", () => {
  const narrow = Buffer.from("id,name\n1,Anna\n")
  for (const addBOM of [true, false]) {
    const wide = iconv.encode("id,name\r\n2,Boris\r\n3,Ёж\r\n", "utf-16le", { addBOM })
    assert.isUndefined(decide(wide).isUnclear)
    assert.isUndefined(decide(wide.subarray(0, -4)).isUnclear)
    for (const chunks of [
      [wide, narrow],
      [wide, ...Array.from(narrow, (byte) => Buffer.from([byte]))],
    ])
      assert.deepInclude(decide(...chunks), { name: "utf-16le", isUnclear: true })
  }
  const appended = iconv.encode("id,name\r\n2,Boris\r\n3,Ёж\r\n", "utf-16le")
  assert.deepInclude(decide(Buffer.from("id,name\n"), appended), { name: "utf-16le", isUnclear: true })
})
