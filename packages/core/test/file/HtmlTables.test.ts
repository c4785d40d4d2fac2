import { type FileOptions, inspectFile } from "@data-cabinet/core/file/FileInspection"
import { readItems } from "@data-cabinet/core/file/ReadItems"
import { HtmlTables } from "@data-cabinet/core/file/HtmlTables"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { Effect, Stream } from "effect"
import iconv from "iconv-lite"
import { assert, it } from "vitest"

const reading = (content: string | Uint8Array, options: FileOptions, piece: number) =>
  Effect.gen(function* () {
    const bytes = Buffer.from(content as string)
    const pieces = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, n) =>
      bytes.subarray(n * piece, (n + 1) * piece),
    )
    const file = { name: "deal.xls", size: bytes.length, bytes: Stream.fromIterable(pieces) }
    const look = yield* inspectFile(file, options)
    const read = yield* readItems(file, look, options.header)
    const batches = yield* Stream.runCollect(read.batches)
    const rows = batches.flatMap(({ items }) => items.map(({ payload }) => JSON.parse(jsonText(payload)) as unknown))
    const refusals = batches.flatMap((batch) => batch.refusals)
    const doubts = read.doubts().map(({ kind, count }) => [kind, count])
    return { look, rows, refusals, doubts }
  }).pipe(Effect.provideService(SheetReader, {} as never), Effect.scoped)

/** The result is the same however the file is split. */
const read = async (content: string | Uint8Array, options: FileOptions = {}) => {
  const whole = await Effect.runPromise(reading(content, options, 1_000_000))
  const cut = await Effect.runPromise(reading(content, options, 7))
  assert.deepStrictEqual([cut.rows, cut.refusals, cut.doubts], [whole.rows, whole.refusals, whole.doubts])
  return whole
}
const rows = async (content: string | Uint8Array, options: FileOptions = {}) => (await read(content, options)).rows
const refusal = (content: string | Uint8Array, options: FileOptions = {}) =>
  Effect.runPromise(Effect.flip(reading(content, options, 1_000)))

const table = (inner: string) => `<html><body><table border=1>${inner}</table></body></html>`
const HEAD = "<tr><th>id</th><th>name</th></tr>"

it.each<[string, string, ReadonlyArray<object>]>([
  ["a plain table", `${HEAD}<tr><td>1</td><td>Anna</td></tr>`, [{ id: "1", name: "Anna" }]],
  ["sections", `<thead>${HEAD}</thead><tbody><tr><td>1<td>Anna</tbody>`, [{ id: "1", name: "Anna" }]],
  ["no end tags", "<tr><th>id<th>name<tr><td>1<td>Anna", [{ id: "1", name: "Anna" }]],
  ["capital tags", "<TR><TH>id</TH></TR><TR><TD>1</TD></TR>", [{ id: "1" }]],
  ["header cells of another kind", "<tr><td>id</td></tr><tr><td>1</td></tr>", [{ id: "1" }]],
  [
    "every digit",
    `${HEAD}<tr><td>00712345678901234567890</td><td>1.50</td></tr>`,
    [{ id: "00712345678901234567890", name: "1.50" }],
  ],
  [
    "entities",
    `${HEAD}<tr><td>&lt;1&gt;</td><td>A&amp;B &quot;&euro;&#1046;&#x416;</td></tr>`,
    [{ id: "<1>", name: 'A&B "€ЖЖ' }],
  ],
  ["white space", `${HEAD}<tr><td>\n  1\n</td><td>  Anna   <b>B.</b>\n</td></tr>`, [{ id: "1", name: "Anna B." }]],
  ["line breaks", `${HEAD}<tr><td>1</td><td>a<br>b<p>c</p></td></tr>`, [{ id: "1", name: "a\nb\nc" }]],
  ["an empty cell", `${HEAD}<tr><td>1</td><td>&nbsp;</td></tr>`, [{ id: "1", name: "" }]],
  [
    "a no-break space within a text",
    `${HEAD}<tr><td>1</td><td>1&nbsp;000</td></tr>`,
    [{ id: "1", name: "1\u00a0000" }],
  ],
  [
    "scripts and styles",
    `${HEAD}<tr><td>1<script>x</script></td><td><style>a{}</style>Anna<!-- c --></td></tr>`,
    [{ id: "1", name: "Anna" }],
  ],
  [
    "a merged column",
    "<tr><th>a</th><th>b</th><th>c</th></tr><tr><td colspan=2>1</td><td>3</td></tr>",
    [{ a: "1", b: "", c: "3" }],
  ],
  [
    "a merged row",
    `${HEAD}<tr><td rowspan=2>1</td><td>x</td></tr><tr><td>y</td></tr>`,
    [
      { id: "1", name: "x" },
      { id: "", name: "y" },
    ],
  ],
  [
    "a merged row at the end",
    `${HEAD}<tr><td>1</td><td rowspan="2">x</td></tr><tr><td>2</td></tr>`,
    [
      { id: "1", name: "x" },
      { id: "2", name: "" },
    ],
  ],
  [
    "a merged block",
    "<tr><th>a<th>b<th>c</tr><tr><td colspan=2 rowspan=2>1<td>2<tr><td>3",
    [
      { a: "1", b: "", c: "2" },
      { a: "", b: "", c: "3" },
    ],
  ],
  [
    "merged cells that end with their section",
    `<tbody>${HEAD}<tr><td rowspan=9>1<td>x</tbody><tbody><tr><td>2<td>y</tbody>`,
    [
      { id: "1", name: "x" },
      { id: "2", name: "y" },
    ],
  ],
  [
    "rows without a cell or text",
    `${HEAD}<tr></tr><tr><td></td><td>&nbsp;</td></tr><tr><td>1<td>x</tr>`,
    [{ id: "1", name: "x" }],
  ],
  ["a caption", `<caption>Orders</caption>${HEAD}<tr><td>1<td>x</tr>`, [{ id: "1", name: "x" }]],
  ["a link and an image", `${HEAD}<tr><td><a href="x">1</a></td><td><img src=x>x</td></tr>`, [{ id: "1", name: "x" }]],
  ["a name twice", "<tr><th>a<th>a</tr><tr><td>1<td>2</tr>", [{ a: ["1", "2"] }]],
  [
    "formulas that stay texts",
    `${HEAD}<tr><td>=1+1</td><td>02.03.2026</td></tr>`,
    [{ id: "=1+1", name: "02.03.2026" }],
  ],
])("readItems reads an HTML table with %s", async (_, inner, expected) => {
  assert.deepStrictEqual(await rows(table(inner)), [...expected])
})

it.each<[string, string]>([
  [
    "meta first",
    `<meta http-equiv="Content-type" content="text/html;charset=UTF-8" />\n<table>${HEAD}<tr><td>1<td>x</table>`,
  ],
  ["a table alone", `<table>${HEAD}<tr><td>1<td>x</table>`],
  ["a document type", `<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">${table(`${HEAD}<tr><td>1<td>x`)}`],
  [
    "comments of a spreadsheet",
    `<html xmlns:x="urn:x"><head><!--[if gte mso 9]><xml><x:a>1</x:a></xml><![endif]--></head><table>${HEAD}<tr><td>1<td>x</table>`,
  ],
  ["text around the table", `<html><p>Orders<table>${HEAD}<tr><td>1<td>x</table>Bye</html>`],
  ["an empty table beside it", `<html><table></table><table>${HEAD}<tr><td>1<td>x</table></html>`],
  ["no end of the table before the page's", `<html><table>${HEAD}<tr><td>1<td>x</body></html>`],
])("readItems reads the table on a page with %s", async (_, page) => {
  const found = await read(page)
  assert.deepStrictEqual(found.rows, [{ id: "1", name: "x" }])
  assert.deepInclude(found.look, { format: "html", csv: null })
})

it("readItems leaves out the titles above an HTML table, and counts them", async () => {
  const titled = table(
    "<tr><td colspan=3>Orders of March</td></tr><tr><td>day</td><td>sum</td><td>n</td></tr><tr><td>2026-03-01</td><td>10.50</td><td>1</td></tr><tr><td>2026-03-02</td><td>2</td><td>1</td></tr>",
  )
  const found = await read(titled)
  assert.deepStrictEqual(found.rows[0], { day: "2026-03-01", sum: "10.50", n: "1" })
  assert.deepStrictEqual([found.rows.length, found.doubts], [2, [["titles_skipped", 1]]])
  assert.deepStrictEqual((await read(titled, { headerRow: 3 })).rows, [
    { "2026-03-01": "2026-03-02", "10.50": "2", "1": "1" },
  ])
  const plain = table("<tr><td>1</td><td>2</td></tr>")
  assert.deepStrictEqual(await rows(plain), [{ column1: "1", column2: "2" }])
  assert.deepStrictEqual(await rows(plain, { header: true }), [])
})

it.each([
  [`${HEAD}<tr><td>1</td><td}>Anna</td></tr><tr><td>2<td>Ira</tr>`, 2],
  [`${HEAD}<tr><td>1</td><td>Anna</td></tr> Ira <tr><td>2</td><td>Ira</td></tr>`, 2],
  [`${HEAD}<tr><td>1</td>&lt;<td>Anna</td></tr>`, 2],
  [`<tr><th>id</th><th\\>name</th></tr><tr><td>1</td></tr>`, 1],
])("readItems refuses text outside the cells of %j", async (inner, line) => {
  const { refusals } = await read(table(inner))
  assert.deepStrictEqual(refusals, [{ line, column: null, reason: "the row has text outside its cells" }])
})

it.each([
  `&nbsp;<caption>Orders${HEAD} <tr>\n<td>1</td>&nbsp;<td>Anna</td>\u00a0</tr>\n`,
  `Orders of May ${HEAD}<form><tr><td>1</td><input><td>Anna</td></tr></form>`,
  `${HEAD}<tr><script>a</script><td>1</td><!-- b --><td>Anna</td></tr><caption>Orders</caption>`,
])("readItems reads %j, whose text outside the cells is no content", async (inner) => {
  const { refusals, rows: found } = await read(table(inner))
  assert.deepStrictEqual([refusals, found], [[], [{ id: "1", name: "Anna" }]])
})

it("readItems counts short rows of an HTML table, and refuses long ones by row and cell", async () => {
  const found = await read(table(`${HEAD}<tr><td>1</tr><tr><td>1<td>2<td>3</tr><tr><td>2<td>x<td></tr>`))
  assert.deepStrictEqual(found.rows, [{ id: "1" }, { id: "2", name: "x" }])
  assert.deepStrictEqual(found.doubts, [["short_rows", 1]])
  assert.deepStrictEqual(found.refusals, [{ line: 3, column: 3, reason: "the row has 3 cells, but the header has 2" }])
})

const CYRILLIC = (label: string) => `<html><head>${label}</head><table>${HEAD}<tr><td>1<td>Жук</table></html>`

it.each<[string, string, string]>([
  ["windows-1251", '<meta charset="windows-1251">', "windows-1251"],
  ["koi8-r", '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"],
  ["utf-8", "<META CHARSET=utf-8>", "utf-8"],
  ["utf-8", "", "utf-8"],
  ["windows-1251", "", "windows-1251"],
  ["utf-8", '<meta charset="utf-16">', "utf-8"],
  ["utf-8", '<meta charset="klingon">', "utf-8"],
  ["ibm866", '<meta charset="ibm866">', "ibm866"],
])("readItems reads a page in %s that says %j", async (codec, label, name) => {
  const found = await read(iconv.encode(CYRILLIC(label), codec))
  assert.deepStrictEqual(found.rows, [{ id: "1", name: "Жук" }])
  assert.strictEqual(found.look.charset?.name, name)
})

it("readItems prefers a byte order mark and an option to the page's own declaration", async () => {
  const page = CYRILLIC('<meta charset="koi8-r">')
  for (const bytes of [Buffer.from(`\uFEFF${page}`), Buffer.from(`\uFEFF${page}`, "utf16le")])
    assert.deepStrictEqual(await rows(bytes), [{ id: "1", name: "Жук" }])
  const given = await rows(iconv.encode(page, "win1251"), { encoding: "windows-1251" })
  assert.deepStrictEqual(given, [{ id: "1", name: "Жук" }])
})

const TWO = `<html><table>${HEAD}<tr><td>1<td>a</table><table>${HEAD}<tr><td>2<td>b</table></html>`

it.each<[string, string, FileOptions, RegExp]>([
  ["a page without a table", "<!doctype html><title>Sign in</title><form>", {}, /an HTML page.*not a table/],
  ["a table without a row", "<html><table></table></html>", {}, /an HTML page/],
  ["a table of empty cells", table("<tr><td></td></tr>"), {}, /an HTML page/],
  ["two tables", TWO, {}, /has 2 tables: pass the number of one as its sheet \(1, 2\)/],
  ["a table that is not there", TWO, { sheet: "3" }, /has no table 3: pass one of 1, 2/],
  ["a table by a name", TWO, { sheet: "Orders" }, /has no table Orders/],
  ["text that is called HTML", "a,b\n1,2\n", { format: "html" }, /an HTML page/],
  ["a web archive", "MIME-Version: 1.0\nContent-Type: multipart/related\n", {}, /a web archive/],
])("inspectFile refuses %s", async (_, page, options, words) => {
  const error = await refusal(page, options)
  assert.strictEqual(error.code, "unreadable")
  assert.match(error.message, words)
})

it("readItems reads the table that is chosen by its number", async () => {
  assert.deepStrictEqual(await rows(TWO, { sheet: "1" }), [{ id: "1", name: "a" }])
  assert.deepStrictEqual(await rows(TWO, { sheet: "2" }), [{ id: "2", name: "b" }])
})

it.each<[string, string, number, RegExp]>([
  [
    "a table inside a cell",
    table(`${HEAD}<tr><td>1<td><table><tr><td>x</table></tr>`),
    2,
    /a table stands inside the table/,
  ],
  ["a page that is cut off", `<html><table>${HEAD}<tr><td>1<td>x</tr>`, 2, /ends in the middle of the table/],
  ["a page cut off in a tag", `<html><table>${HEAD}<tr><td>1<td`, 2, /ends in the middle of the table/],
  ["too long a row", table(`${HEAD}<tr><td>${"x".repeat(1_048_577)}`), 2, /the row is longer than 1048576/],
  ["too many line breaks", table(`${HEAD}<tr><td>${"<br>".repeat(1_048_577)}`), 2, /the row is longer than 1048576/],
  ["too many paragraphs", table(`${HEAD}<tr><td>${"<p></p>".repeat(524_289)}`), 2, /the row is longer than 1048576/],
  ["too many cells", table(`${HEAD}<tr>${"<td colspan=1000>x".repeat(17)}`), 2, /more than 16384 cells/],
  ["a comment without an end", `<html><table>${HEAD}<!-- ${"x".repeat(2_200_000)}`, 1, /a tag or a comment is longer/],
])("readItems refuses %s by its row", async (_, page, line, reason) => {
  const { refusals } = await Effect.runPromise(reading(page, {}, 65_536))
  assert.strictEqual(refusals[0]?.line, line)
  assert.match(refusals[0]!.reason, reason)
})

/** The result of a page of this markup in pieces of 64 KB: rows, cells and refusals. */
const found = (text: string) => {
  const result = { rows: 0, cells: 0, reasons: new Set<string>() }
  const tables = new HtmlTables({
    row: ({ cells }) => {
      result.rows++
      result.cells += cells.length
    },
    refuse: (_, { reason }) => void result.reasons.add(reason),
  })
  for (let at = 0; at < text.length; at += 65_536) tables.push(text.slice(at, at + 65_536))
  tables.end()
  return { ...result, reasons: [...result.reasons] }
}

const NESTED = "more than 1000 elements stand inside each other"
const COVERED = "its merged cells cover far more cells than the page has characters"
const WIDE = `<tr>${"<td colspan=1000 rowspan=65534>".repeat(16)}x`

it.each([
  ["elements without an end", "<table><tr><td>" + "<b>".repeat(200_000), [NESTED]],
  ["elements with other ends", "<table><tr><td>" + "<b>".repeat(60_000) + "</i>".repeat(60_000), [NESTED]],
  ["tables", "<table>".repeat(100_000), ["a table stands inside the table", NESTED]],
  ["rows below a wide merged area", `<table>${WIDE}${"<tr><td>x".repeat(20_000)}`, [COVERED]],
  ["empty rows below a wide merged area", `<table>${WIDE}${"<tr>".repeat(20_000)}`, [COVERED]],
  ["wide rows", `<table>${`<tr>${"<td colspan=1000>".repeat(16)}x`.repeat(1_000)}`, [COVERED]],
])("HtmlTables stops at %s, whose cost grows faster than the page", (_, page, reasons) => {
  const result = found(page)
  assert.deepStrictEqual(result.reasons, reasons)
  assert.isBelow(result.cells, 250_000 + 8 * page.length + 16_384)
})

it("HtmlTables reads many rows of merged cells as spreadsheets write them", () => {
  const row = "<tr height=20 style='height:15.0pt'><td>1</td><td colspan=246 style='mso-ignore:colspan'></td></tr>"
  assert.deepStrictEqual(found(`<table>${row.repeat(20_000)}</table>`), {
    rows: 20_000,
    cells: 20_000 * 247,
    reasons: [],
  })
})

it("htmlShape lists the first tables and counts all when a page has thousands", async () => {
  const page = "<table><tr><td>1</td></tr></table>".repeat(5_000)
  assert.match((await refusal(`<html>${page}`)).message, /5000 tables: .* \(1, 2, .*, 20\)\.$/)
  assert.deepStrictEqual(
    (await Effect.runPromise(reading(`<html>${page}`, { sheet: "4000" }, 65_536))).look.html?.table,
    4_000,
  )
})
