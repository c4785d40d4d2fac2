import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { charsetOf, decode, sourceCharset, UTF_8, WINDOWS_1251, WINDOWS_1252 } from "../../src/text/Charset.ts"

describe("charsetOf", () => {
  it.for([
    ["UTF-8", "utf-8"],
    [" utf8 ", "utf-8"],
    ["Windows-1251", "windows-1251"],
    ["cp1251", "windows-1251"],
    ["latin1", "windows-1252"],
    ["ISO-8859-1", "windows-1252"],
    ["koi8-r", "koi8-r"],
    ["ISO-8859-5", "iso-8859-5"],
    ["gb2312", "gb18030"],
    ["sjis", "shift_jis"],
    ["MS932", "shift_jis"],
    ["SJIS-win", "shift_jis"],
    ["eucJP-win", "euc-jp"],
    ["MS949", "euc-kr"],
    ["UHC", "euc-kr"],
    ["MS936", "gb18030"],
    ["MS950", "big5"],
    ["MacRoman", "macintosh"],
    ["x-windows-1251", "windows-1251"],
    ["ISO8859_2", "iso-8859-2"],
    ["8859_2", "iso-8859-2"],
    ["cp65001", "utf-8"],
    ["CP437", "ibm437"],
    ["ibm00858", "ibm858"],
  ] as const)("charsetOf %j is %s", ([label, name]) => assert.strictEqual(charsetOf(label)?.name, name))

  it.for([
    ["cp437", "Größe √", "477294e16520fb"],
    ["cp775", "Živilė", "cf6976696cd3"],
    ["ibm850", "Köln ø", "4b946c6e209b"],
    ["dos-852", "Žofie", "a66f666965"],
    ["cp857", "Işık", "499f8d6b"],
  ] as const)("charsetOf knows the code page %s of DOS", ([label, text, hex]) =>
    assert.strictEqual(decode(Buffer.from(hex, "hex"), charsetOf(label)!).text, text),
  )

  it.for(["", "us-ascii", "utf-16", "utf-7", "base64", "hex", "binary", "nonsense", "__proto__", null, undefined])(
    "charsetOf ignores %j",
    (label) => assert.isNull(charsetOf(label)),
  )
  it.for(
    "csisolatin2 csisolatin3 iso-ir-110 iso-ir-144 asmo-708 ecma-118 logical csisolatin5 csisolatin6 csisolatin9 dos-874 chinese csbig5 cseuckr".split(
      " ",
    ),
  )("charsetOf knows the web's label %s", (label) => {
    const web = new TextDecoder(label).encoding.replace("gbk", "gb18030").replace(/-i$/, "")
    assert.strictEqual(charsetOf(label)?.name, web)
  })
  it("charsetOf returns the same object for every label of a charset", () => {
    assert.strictEqual(charsetOf("koi8-r"), charsetOf("koi8"))
  })

  it.for([
    ..."windows-1250 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258".split(" "),
    ..."iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-13".split(" "),
    ..."iso-8859-15 windows-874 koi8-r koi8-u ibm866 x-mac-cyrillic macintosh".split(" "),
  ])("charsetOf %s decodes letters as browsers do", (label) => {
    const charset = charsetOf(label)!
    const web = new TextDecoder(label)
    assert.deepStrictEqual([charset.name, web.encoding], [label, label])
    for (let byte = 128; byte < 256; byte++) {
      const letter = web.decode(Uint8Array.of(byte))
      if (/\p{L}/u.test(letter))
        assert.strictEqual(decode(Buffer.of(byte), charset).text.normalize(), letter, `${byte}`)
    }
  })

  it.for([
    ["gb18030", "漢字", [0x9d, 0x68, 0xd7, 0xd6]],
    ["big5", "漢字", [0xba, 0x7e, 0xa6, 0x72]],
    ["shift_jis", "漢字", [0x8a, 0xbf, 0x8e, 0x9a]],
    ["euc-jp", "漢字", [0xb4, 0xc1, 0xbb, 0xfa]],
    ["euc-kr", "한글", [0xc7, 0xd1, 0xb1, 0xdb]],
  ] as const)("charsetOf %s reads %s", ([label, text, bytes]) => {
    const charset = charsetOf(label)!
    assert.strictEqual(charset.name, label)
    assert.deepStrictEqual(decode(Buffer.from(bytes), charset), { text, replaced: 0 })
    assert.strictEqual(new TextDecoder(label).decode(Uint8Array.from(bytes)), text)
  })

  it("sourceCharset reads latin-1 as browsers do", () => {
    assert.deepStrictEqual(
      ["utf-8", "windows-1251", "latin-1"].map((name) => sourceCharset(name as never)),
      [UTF_8, WINDOWS_1251, WINDOWS_1252],
    )
  })
})

describe("decode", () => {
  it("decode reads every byte of single-byte charsets as browsers do, and unmapped ones as U+FFFD", () => {
    const all = Buffer.from(Uint8Array.from({ length: 255 }, (_, at) => at + 1))
    const cyrillic = decode(all, WINDOWS_1251)
    assert.strictEqual(cyrillic.text.slice(191), new TextDecoder("windows-1251").decode(all.subarray(191)))
    assert.strictEqual(cyrillic.text[0x97], "\uFFFD")
    assert.strictEqual(cyrillic.replaced, 1)
    assert.strictEqual(cyrillic.text[0x87], "€")
    const western = decode(all, WINDOWS_1252)
    assert.strictEqual(western.text[0x7f], "€")
    assert.deepStrictEqual(
      [0x81, 0x8d, 0x8f, 0x90, 0x9d].map((byte) => western.text[byte - 1]),
      Array(5).fill("\uFFFD"),
    )
    assert.strictEqual(western.replaced, 5)
  })
  it("decode counts its replacements, not U+FFFD that was sent", () => {
    const bytes = Buffer.concat([Buffer.from("\uFFFDд\0"), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from("\uFFFD")])
    assert.deepStrictEqual(decode(bytes, UTF_8), { text: "\uFFFDд\uFFFD\uFFFD\uFFFD\uFFFD", replaced: 3 })
  })
  it("decode counts broken bytes next to characters whose bytes resemble those of U+FFFD", () => {
    for (const character of ["\uFFBC", "\uFFFC", "\uEFFD", "\uFFBD", "\uEFBD"]) {
      const bytes = Buffer.concat([Buffer.from(character), Buffer.of(0xff), Buffer.from("\uFFFD")])
      assert.deepStrictEqual(decode(bytes, UTF_8), { text: `${character}\uFFFD\uFFFD`, replaced: 1 })
    }
  })
  it("decode reads only the bytes of its range", () => {
    assert.deepStrictEqual(decode(Buffer.from([0xff, 0xcf, 0xf0, 0xff]), WINDOWS_1251, 1, 3), {
      text: "Пр",
      replaced: 0,
    })
    assert.deepStrictEqual(decode(Buffer.from("аб"), UTF_8, 2, 4), { text: "б", replaced: 0 })
    assert.deepStrictEqual(decode(Buffer.from("xyz"), charsetOf("sjis")!, 1, 2), { text: "y", replaced: 0 })
  })
  it("decode keeps a byte order mark", () => {
    assert.strictEqual(decode(Buffer.from("\uFEFFa"), UTF_8).text, "\uFEFFa")
    assert.strictEqual(decode(Buffer.of(0x84, 0x31, 0x95, 0x33, 0x61), charsetOf("gb18030")!).text, "\uFEFFa")
  })
})
