import { assert, it } from "vitest"
import { MAX_TOKEN, XmlScanner } from "../../src/sheet/XmlScanner.ts"

/** What a scanner reports for these pieces. */
const reported = (pieces: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  const scanner = new XmlScanner({
    open: (name, tag) => {
      if (name === "skipped") tag.skip()
      else found.push(`<${name}${tag.get("a") === undefined ? "" : ` ${tag.get("a")}`}>`)
    },
    close: (name) => found.push(`</${name}>`),
    text: (text) => found.push(text),
  })
  scanner.collects = true
  for (const piece of pieces) scanner.push(piece)
  scanner.end()
  return found
}

const cuts = (text: string) => Array.from({ length: text.length + 1 }, (_, at) => [text.slice(0, at), text.slice(at)])

const DOCUMENT = `<?xml version="1.0"?><!-- <a> > --><r a='x>"y'>1 &lt; 2&#x21;<skipped><b/>no<skipped/></skipped><b a = "&quot;"/><![CDATA[<&>]]]></r>\n`

it("XmlScanner reports the same however a document is cut into pieces", () => {
  const whole = reported([DOCUMENT])
  assert.deepStrictEqual(whole, ['<r x>"y>', "1 < 2!", '<b ">', "</b>", "<&>]", "</r>"])
  for (const pieces of cuts(DOCUMENT)) assert.deepStrictEqual(reported(pieces).join(""), whole.join(""))
  assert.deepStrictEqual(reported([...DOCUMENT]).join(""), whole.join(""))
})

it.each([
  "<r>",
  "<r></s>",
  "<r></r><r/>",
  "<r><b></r></b>",
  "<r a=1/>",
  "<r a/>",
  '<r a="1"b="2"/>',
  '<r a="1/>',
  "<r>&unknown;</r>",
  "<r>a & b</r>",
  "<r>&#0;</r>",
  "<r>\0</r>",
  "<r>&#xD800;</r>",
  "<r/",
  "<r></r",
  "",
  "text",
  '<!DOCTYPE r [<!ENTITY e "x">]><r>&e;</r>',
  "<r><![CDATA[x]]></r><!-- ",
])("XmlScanner refuses %j", (text) => {
  assert.throws(() => reported([text]))
})

it("XmlScanner refuses each document that lacks its end", () => {
  const end = DOCUMENT.trimEnd().length
  for (let at = 0; at < end; at++) assert.throws(() => reported([DOCUMENT.slice(0, at)]))
})

it.each([
  ["a text", "<r>", "x"],
  ["a text of references", "<r>", "&amp;"],
  ["a tag", "<r ", "x"],
  ["a value with the ends of tags", '<r a="', ">"],
  ["a comment", "<r><!--", ">-"],
  ["an end tag", "<r></", "r"],
])("XmlScanner scans each piece of an endless %s once, and gives up at its limit", (_, begin, filling) => {
  let pushed = 0
  const scanner = new XmlScanner({ open: () => {}, close: () => {}, text: () => {} })
  scanner.collects = true
  scanner.push(begin)
  const piece = filling.repeat(65_536 / filling.length)
  assert.throws(() => {
    for (; pushed < 10 * MAX_TOKEN; pushed += piece.length) scanner.push(piece)
  }, /longer than 1048576 characters/)
  assert.isAtMost(pushed, MAX_TOKEN + 2 * piece.length)
})

it("XmlScanner drops unread text of any length", () => {
  const scanner = new XmlScanner({ open: () => {}, close: () => {}, text: () => assert.fail("it was reported") })
  scanner.push("<r>")
  for (let n = 0; n < 100; n++) scanner.push("x".repeat(65_536))
  scanner.push("</r>")
  scanner.end()
})

it("XmlScanner limits depth, attributes and namespaces", () => {
  assert.throws(() => reported(["<r>".repeat(300)]), /nested more than 256 deep/)
  const attributes = Array.from({ length: 300 }, (_, n) => `a${n}="1"`).join(" ")
  assert.throws(() => reported([`<r ${attributes}/>`]), /more than 256 attributes/)
  const declarations = Array.from({ length: 200 }, (_, n) => `xmlns:a${n}="u"`).join(" ")
  assert.throws(() => reported([`<r ${declarations}>`.repeat(4)]), /too many namespaces/)
})

it("XmlScanner names elements and attributes by namespace, whatever their prefix", () => {
  const main = "http://purl.oclc.org/ooxml/spreadsheetml/main"
  const table = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
  const text = `<x:r xmlns:x="${main}" xmlns:t="${table}" xmlns:o="urn:other"><x:a/><t:b/><o:c/><t:b xmlns:t="${main}"><d/></t:b><t:b/></x:r>`
  const opened = reported([text]).filter((one) => !one.startsWith("</"))
  assert.deepStrictEqual(opened, ["<r>", "<a>", "<table:b>", "<?:c>", "<b>", "<d>", "<table:b>"])
})

it("XmlScanner restores what a prefix stood for after an element that declares it, even twice", () => {
  const [main, table] = [
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
  ]
  const text = `<x:r xmlns:x="${main}"><x:a xmlns:x="urn:other" xmlns:x="${table}" xmlns:n="${main}"><x:b/><n:c/></x:a><x:d/><n:e/></x:r>`
  const opened = reported([text]).filter((one) => !one.startsWith("</"))
  assert.deepStrictEqual(opened, ["<r>", "<table:a>", "<table:b>", "<c>", "<d>", "<n:e>"])
})

/** In the square of its length, the name of a megabyte would take minutes and end the test. */
it.each(["/spreadsheetml/", "/officeDocument/", "/package/"])(
  "XmlScanner takes no time in the square of the length of a namespace of %s",
  (unit) => {
    assert.include(reported([`<r xmlns="${unit.repeat(Math.floor(1_000_000 / unit.length))}"/>`])[0], "?:r")
  },
)
