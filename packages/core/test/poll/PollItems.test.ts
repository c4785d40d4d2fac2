import { fileError } from "@data-cabinet/core/file/FileError"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { nameOf, type PollItem, PollItems, type PollReading } from "@data-cabinet/core/poll/PollItems"
import { Effect } from "effect"
import iconv from "iconv-lite"
import { assert, it } from "vitest"
import type { ArchiveReading } from "@data-cabinet/core/file/ReadableFile"

const READING: PollReading = {
  url: "https://example.com/items?token=secret",
  format: null,
  pointer: "",
  keyField: null,
}

/** As without a reader of archives. */
const NO_ARCHIVES: ArchiveReading = { open: Effect.succeed }

const read = async (body: string | Uint8Array, contentType: string | null = null, poll: Partial<PollReading> = {}) => {
  const items = new PollItems({ ...READING, ...poll }, NO_ARCHIVES)
  const handed: Array<ReadonlyArray<PollItem>> = []
  const use = (some: ReadonlyArray<PollItem>) => Effect.sync(() => void handed.push(some))
  const look = await Effect.runPromise(Effect.scoped(items.read(Buffer.from(body as string), contentType, use)))
  const texts = handed.flat().map(({ payload }) => payload)
  return {
    texts,
    handed,
    count: items.count,
    format: look.format,
    charset: look.charset?.name,
    look,
    doubts: items.doubts,
  }
}

const refusal = (body: string | Uint8Array, contentType: string | null = null, poll: Partial<PollReading> = {}) =>
  Effect.runPromise(
    Effect.flip(
      Effect.scoped(
        new PollItems({ ...READING, ...poll }, NO_ARCHIVES).read(
          Buffer.from(body as string),
          contentType,
          () => Effect.void,
        ),
      ),
    ),
  )

it("PollItems returns the objects of a response to the last digit, and marks empty ones", async () => {
  const { handed, texts, count } = await read('[{"b":1.0,"a":12345678901234567890},{"a":null}]')
  assert.deepStrictEqual(texts, ['{"b":1.0,"a":12345678901234567890}', '{"a":null}'])
  assert.deepStrictEqual(
    handed.flat().map(({ empty }) => empty),
    [false, true],
  )
  assert.strictEqual(count, 2)
})

it("PollItems returns a repeated item once, as it first occurred", async () => {
  const { texts, count } = await read('[{"id":1,"n":1},{"id":2},{"id":1,"n":2}]', null, { keyField: "id" })
  assert.deepStrictEqual([texts, count], [['{"id":1,"n":1}', '{"id":2}'], 3])
  const whole = await read('{"id":1,"n":1}\n{"n":1,"id":1}\n{"id":1,"n":2}')
  assert.deepStrictEqual([whole.texts.length, whole.count], [2, 3])
})

it("PollItems passes items on in batches of one lookup, without loss", async () => {
  const lines = Array.from({ length: 12_001 }, (_, n) => `{"n":${n}}`)
  const { handed, texts } = await read(`[${lines.join()}]`)
  assert.deepStrictEqual(texts, lines)
  for (const some of handed) assert.isAtMost(some.length, 5_000)
})

it.each<[string, string | null, string]>([
  ['[{"a":1}]', "application/json; charset=utf-8", "json"],
  ['{"a":1}', "application/hal+json", "json"],
  ['{"a":1}', "text/json", "json"],
  ['{"a":1}', "application/x-ndjson", "ndjson"],
  ['{"a":1}', "application/jsonl", "ndjson"],
  ['{"a":1}', "text/x-json-lines", "ndjson"],
  ['{"a":1}\n', "Application/JSONLines ;charset=utf-8", "ndjson"],
  ["a\n1\n", "text/csv", "csv"],
  ["a\n1\n", "text/plain", "csv"],
  ['{"a":1}\n{"a":2}\n', "text/plain", "ndjson"],
  ['{"a":1}\n{"a":2}\n', "application/json", "ndjson"],
  ['{"a":1}', null, "json"],
  ['{"a":1}', "application/jsonp", "json"],
])("%j as %j is read as %s", async (body, contentType, format) => {
  const found = await read(body, contentType)
  assert.strictEqual(found.format, format)
  assert.isNotEmpty(found.texts)
})

it.each([
  "application/json",
  "text/json;charset=utf-8",
  "application/hal+json",
  "application/vnd.api+json",
  "application/ndjson",
  "application/x-ndjson",
  "application/jsonl",
  "text/x-json-lines",
  "application/jsonlines",
])("a response that is not the declared %s is refused, never read as a table", async (contentType) => {
  assert.match((await refusal("a\n1\n", contentType)).message, /not valid JSON/)
})

it.each([
  ["a\n1\n", "x-application/json"],
  ["a\n1\n", "application/json5"],
  ["a\n1\n", "not-application/ndjson"],
  ["a\n1\n", "application/jsonlines2"],
  ["[a],b\n1,2\n", "text/csv"],
])("%j as %j is a table", async (body, contentType) => {
  assert.strictEqual((await read(body, contentType)).format, "csv")
})

it("the poll's own settings take precedence over the response's headers", async () => {
  assert.strictEqual((await read("a,b\n1,2\n", "application/json", { format: "csv" })).format, "csv")
  const pointed = await read('{"data":[{"a":1}]}', "text/csv", { pointer: "/data" })
  assert.deepStrictEqual([pointed.format, pointed.texts], ["json", ['{"a":1}']])
  assert.strictEqual((await read("<a>,b\n1,2\n", null, { format: "csv" })).texts[0], '{"<a>":"1","b":"2"}')
})

it("PollItems decodes by the declared charset, or by the bytes when that is unknown", async () => {
  const cyrillic = Buffer.from([0xc6, 0xf3, 0xea])
  const body = Buffer.concat([Buffer.from('{"a":"'), cyrillic, Buffer.from('"}')])
  for (const type of ["application/json; charset=windows-1251", 'application/json;x=1;charset="Windows-1251" '])
    assert.deepInclude(await read(body, type), { texts: ['{"a":"Жук"}'], charset: "windows-1251" })
  // The declared charset is trusted even if the bytes look like another one.
  for (const type of ["text/json;charset=latin1", 'a/b ;  charset="latin1"  ', "a/b;x=1;CHARSET=latin1;y=2"])
    assert.deepInclude(await read('{"a":"Ж"}', type), { texts: ['{"a":"Ð–"}'], charset: "windows-1252" })
  for (const type of ["text/json;x-charset=latin1", "text/json;charset=latin1 x", "latin1"])
    assert.deepInclude(await read('{"a":"Ж"}', type), { texts: ['{"a":"Ж"}'], charset: "utf-8" })
  const utf8 = await read('{"a":"Жук"}', "application/json; charset=klingon")
  assert.deepInclude(utf8, { texts: ['{"a":"Жук"}'], charset: "utf-8" })
})

it.each<[string, string | null]>([
  ["<!doctype html><title>Sign in</title>", "text/html"],
  [" \r\n\t<html>", null],
  ["\uFEFF<?xml version='1.0'?>", "application/xml"],
  ["<html>", "text/plain"],
])("a page such as %j is not a list of items", async (body, contentType) => {
  assert.deepInclude(await refusal(body, contentType), { code: "unreadable" })
  assert.match((await refusal(body, contentType)).message, /HTML or XML/)
})

const PAGE = "<!DOCTYPE html>\n<html><body>Sign in, please</body></html>\n"

it.each<[string, string | Uint8Array]>([
  ["a page", PAGE],
  ["a page of one element", "<div>Rate limit, exceeded</div>\n"],
  ["a table of a page", "<table><tr><td>a</td></tr></table>"],
  ["a page behind a mark", `\uFEFF\n ${PAGE}`],
  ["a page in UTF-16", Buffer.from(`\uFEFF${PAGE}`, "utf16le")],
  ["XML", '<?xml version="1.0"?>\n<orders><order id="1"/></orders>'],
  ["XML without a declaration", '<rss version="2.0"><channel/></rss>'],
  ["an XML document with a comment", "<!-- made, by a shop -->\n<orders/>"],
  ["a Word document", Buffer.concat([Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), Buffer.from("WordDocument\0", "utf16le")])],
  ["a new Word document", Buffer.from("PK\x03\x04.......word/document.xml", "latin1")],
  ["a rich text", "{\\rtf1\\ansi a,b}"],
  ["a PDF", "%PDF-1.4\na,b\n"],
  ["an image", Buffer.from("\x89PNG\r\n\x1a\n", "latin1")],
])("PollItems refuses %s, whatever the response and the poll declare", async (_, body) => {
  for (const type of [
    null,
    "text/html",
    "text/csv",
    "text/csv; charset=utf-8",
    "application/json",
    "application/x-ndjson",
  ]) {
    for (const format of [null, "csv", "json", "ndjson"] as const) {
      assert.strictEqual((await refusal(body, type, { format })).code, "unreadable", `${type}, ${format}`)
    }
  }
})

it.each(["<a>,b\n1,2\n", "<price>;<name>\n1;2\n", '"<a>",<b>\n1,2\n', "<5,>5\n1,2\n", "< a,b\n1,2\n"])(
  "PollItems reads the table %j where its format is known",
  async (body) => {
    assert.lengthOf((await read(body, "text/csv")).texts, 1)
    assert.lengthOf((await read(body, null, { format: "csv" })).texts, 1)
  },
)

it.each<[string, string | Uint8Array, ReadonlyArray<readonly [string, number]>]>([
  ["nothing doubtful", "a,b\n1,2\n", []],
  ["two delimiters that fit", "a;b|c\n1;2|3\n4;5|6\n", [["delimiter_unclear", 1]]],
  ["a row of totals", "name,sum\nAnna,1\nTotal,1\n", [["totals_row", 1]]],
  ["repeated headers", "a,b\n1,2\na,b\n3,4\n", [["headers_skipped", 1]]],
  ["short rows", "a,b,c\n1,2,3\n1\n1,2\n1,2,3\n", [["short_rows", 2]]],
  ["titles", "Orders\n\nname,sum\nAnna,1\nIra,2\n", [["titles_skipped", 2]]],
  ["replaced letters", Buffer.concat([Buffer.from("a,b\n\0,Жук\n")]), [["values_replaced", 1]]],
  ["replaced letters of the header", Buffer.from("a,b\0\n1,2\n"), [["values_replaced", 1]]],
  ["replaced letters of JSON", Buffer.from('[{"a":"\0"}]'), [["values_replaced", 1]]],
  ["no items", "[]", []],
])("PollItems counts the warnings about a response with %s", async (_, body, kinds) => {
  const { doubts } = await read(body)
  assert.deepStrictEqual(
    doubts.map(({ kind, count }) => [kind, count]),
    kinds as Array<unknown>,
  )
  for (const { places, message } of doubts) assert.isTrue(places.length > 0 && message.endsWith("."))
})

it("PollItems reads the file inside a response that is an archive", async () => {
  const opening: ArchiveReading = {
    open: (file) => Effect.succeed({ ...file, name: "a.csv", bytes: inPieces(Buffer.from("a,b\n1,2\n")) }),
  }
  const items = new PollItems(READING, opening)
  const look = await Effect.runPromise(Effect.scoped(items.read(Buffer.from("packed"), null, () => Effect.void)))
  assert.deepStrictEqual([look.format, items.count], ["csv", 1])
})

it.each(["Rate limit exceeded, try again later", "Unauthorized\n", "  Слишком много запросов, подождите.\r\n"])(
  "PollItems refuses %j, which is not a table",
  async (body) => {
    for (const contentType of [null, "text/plain", "text/csv"]) {
      assert.match((await refusal(body, contentType)).message, /one line of words/)
    }
  },
)

it.each(["id,name\n", "id;name", "id\tname\n", "a, b,c\n", "", "\n"])(
  "PollItems treats the header %j without rows as nothing new",
  async (body) => {
    assert.deepStrictEqual((await read(body, "text/csv")).texts, [])
  },
)

it("PollItems accepts an item that contains markup", async () => {
  assert.deepStrictEqual((await read('[{"a":"\\n <b>"}]')).texts, ['{"a":"\\n <b>"}'])
})

it.each([null, "json"] as const)("a workbook is refused under any content type", async (format) => {
  const zip = Buffer.from([0x50, 0x4b, 3, 4])
  assert.deepInclude(await refusal(zip, null, { format }), { code: "unreadable" })
  if (format === null) assert.match((await refusal(zip)).message, /a workbook or a document cannot be polled/)
})

it("PollItems refuses a response with anything but objects, at the position of the first", async () => {
  assert.strictEqual((await refusal('[{"a":1},\n 2]')).message, "not an object, at line 2, column 2")
  const pointed = await refusal('{"data":[{"a":1},2]}', null, { pointer: "/data" })
  assert.strictEqual(pointed.message, "item 2 is not an object, at line 2")
})

it("PollItems stops reading when its consumer fails", async () => {
  const fails = () => Effect.fail(fileError("busy", "full"))
  const reading = new PollItems(READING, NO_ARCHIVES).read(Buffer.from('[{"a":1}]'), null, fails)
  assert.deepInclude(await Effect.runPromise(Effect.flip(Effect.scoped(reading))), { code: "busy" })
})

it("nameOf returns host and path, without the query, which may hold a token", () => {
  assert.strictEqual(nameOf(READING.url), "example.com/items")
  assert.lengthOf(nameOf(`https://example.com/${"x".repeat(1_000)}`), 500)
})

it("PollItems reads UTF-16 and UTF-32, whatever its type declares", async () => {
  const list = '[{"имя":"Ёж"},{"имя":"文"}]'
  const lines = '{"имя":"Ёж"}\n{"имя":"文"}\n'
  for (const codec of ["utf-16le", "utf-16be", "utf-32le", "utf-32be"])
    for (const addBOM of [true, false])
      for (const type of ["application/json; charset=utf-16", "application/json"])
        for (const text of [list, lines]) {
          const { texts } = await read(iconv.encode(text, codec, { addBOM }), type)
          assert.deepStrictEqual(texts, ['{"имя":"Ёж"}', '{"имя":"文"}'], [codec, addBOM, type, text].join(" "))
        }
  assert.include((await refusal(iconv.encode("<html><body>Sign in</body></html>", "utf-16"))).message, "HTML or XML")
})
