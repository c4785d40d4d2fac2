import { formatOf, isZip } from "@data-cabinet/core/file/FileFormat"
import { type FileOptions, inspectFile } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { assert, it } from "vitest"

const ZIP = [0x50, 0x4b, 3, 4]
const OLD_EXCEL = [0xd0, 0xcf, 0x11, 0xe0]

const inspecting = (name: string, content: string | ReadonlyArray<number>, options: FileOptions = {}) => {
  const bytes = Buffer.from(content as string)
  return inspectFile({ name, size: bytes.length, bytes: inPieces(bytes) }, options)
}
const inspect = (...given: Parameters<typeof inspecting>) => Effect.runPromise(inspecting(...given))
const refusal = (...given: Parameters<typeof inspecting>) => Effect.runPromise(Effect.flip(inspecting(...given)))

it("inspectFile returns the hash and the number of all bytes, however long the file is", async () => {
  for (const length of [0, 1, 262_144, 262_145, 400_000]) {
    const text = "a\n".repeat(length / 2)
    const { sha256, bytes } = await inspect("a.csv", text)
    assert.deepStrictEqual([Buffer.from(sha256), bytes], [createHash("sha256").update(text).digest(), text.length])
  }
})

it("isZip recognizes an archive by its first four bytes, but not by three", () => {
  assert.isTrue(isZip(Buffer.from(ZIP)))
  for (let n = 0; n < 4; n++) assert.isFalse(isZip(Buffer.from(ZIP.map((byte, m) => (m === n ? byte + 1 : byte)))))
})

it("inspectFile recognizes an ODS workbook by the type at its beginning", async () => {
  const mimetype = (type: string) => [...ZIP, ...Buffer.alloc(26), ...Buffer.from(`mimetype${type}`)]
  const ods = "application/vnd.oasis.opendocument.spreadsheet"
  assert.deepInclude(await inspect("a.xlsx", mimetype(ods)), { format: "ods", charset: null, csv: null })
  assert.deepInclude(await inspect("a.ods", mimetype("text/plain")), { format: "xlsx" })
  assert.deepInclude(await inspect("a", mimetype(ods), { format: "xlsx" }), { format: "ods" })
})

it.each([
  ["a.csv", "[1]", "csv"],
  ["a.TSV", "[1]", "tsv"],
  ["a.tab", "[1]", "tsv"],
  ["a.json", "a,b", "json"],
  ["a.ndjson", "a,b", "ndjson"],
  ["a.jsonl", "a,b", "ndjson"],
  ["a.json.csv", "[1]", "csv"],
  ["a.csv.gz", " \n[1]", "json"],
  ["a.csv2", '{"a":1}\r\n  {"a":2}', "ndjson"],
  ["csv", '{"a":1}{"a":2}', "json"],
  ["a", '{"a":1} \t\n{"a":2}', "ndjson"],
  ["a", '{"a":{\n"b":1}}', "json"],
  ["a", 'x{"a":1}\n{"a":2}', "csv"],
  ["a", "", "csv"],
])("%s, which begins with %j, is %s", (name, text, format) => {
  assert.strictEqual(formatOf(name, text), format)
})

it("inspectFile recognizes a workbook by its bytes, whatever its name", async () => {
  const sheet = await inspect("a.csv", ZIP, { sheet: "2" })
  assert.deepInclude(sheet, { format: "xlsx", charset: null, csv: null, sheet: "2", pointer: "" })
  assert.deepInclude(await inspect("a.xlsx", ZIP, { format: "xlsx" }), { format: "xlsx" })
  const text = await inspect("a.json", '{"a":[]}', { sheet: "2", pointer: "/a" })
  assert.deepInclude(text, { format: "json", csv: null, sheet: undefined, pointer: "/a" })
})

it("inspectFile refuses a workbook in an old format, and text that the caller declares to be a workbook", async () => {
  assert.match((await refusal("a.xls", OLD_EXCEL)).message, /before 2007/)
  assert.deepInclude(await refusal("a.txt", "a,b\n", { format: "xlsx" }), { code: "unreadable" })
})

it("inspectFile prefers the requested format to what the bytes look like", async () => {
  assert.deepInclude(await inspect("a.csv", "[1]", { format: "json" }), { format: "json" })
  assert.deepInclude(await inspect("a.csv", ZIP, { format: "csv" }), { format: "csv" })
})

it.each<[string, string, FileOptions, string, boolean]>([
  ["a.csv", "a;b\n1;2\n", {}, ";", true],
  ["a.tsv", "a;b\tc\n1;2\t3\n", {}, "\t", true],
  ["a.tsv", "a;b\tc\n1;2\t3\n", { delimiter: ";" }, ";", true],
  ["a.csv", "a;b\n1;2\n", { delimiter: "tab", header: false }, "\t", false],
  ["a.csv", "a;b\n1;2\n", { delimiter: "\\t" }, "\t", true],
  ["a.csv", "1;2\n3;4\n", {}, ";", false],
  ["a.csv", "1;2\n3;4\n", { header: true }, ";", true],
])("%s with %j and %j is separated by %j", async (name, text, options, delimiter, header) => {
  assert.deepInclude((await inspect(name, text, options)).csv!, { delimiter, header, firstLine: 1 })
})

it("inspectFile takes the charset from a byte order mark, and leaves the mark out of the first column name", async () => {
  const marked = await inspect("a.csv", "\uFEFFsep=;\na;b\n")
  assert.deepInclude(marked.csv!, { delimiter: ";", firstLine: 2 })
  const wide = Buffer.from("\uFEFFa;b\n1;2\n", "utf16le")
  const { csv, charset } = await inspect("a.csv", [...wide])
  assert.deepStrictEqual([csv!.delimiter, charset!.name], [";", "utf-16le"])
})

it("inspectFile reads the text in the requested encoding", async () => {
  const asked = await inspect("a.csv", "a;b\n", { encoding: "koi8-r" })
  assert.strictEqual(asked.charset!.name, "koi8-r")
  assert.strictEqual((await inspect("a.csv", "a;b\n")).charset!.name, "utf-8")
})

it("inspectFile examines only the beginning of a long file, whose last line may be cut", async () => {
  const text = `a;b\n${"1;2\n".repeat(100_000)}x,y,z\n`
  assert.deepInclude((await inspect("a.csv", text)).csv!, { delimiter: ";", header: true })
  // A short text is examined to its end.
  assert.isFalse((await inspect("a.csv", "1,2")).csv!.header)
  assert.isTrue((await inspect("a.csv", `1,"${"x".repeat(262_144)}`)).csv!.header)
})

it.each<FileOptions>([
  { format: "pdf" as never },
  { encoding: "klingon" },
  { delimiter: "" },
  { delimiter: ";;;;;" },
  { delimiter: '"' },
  { delimiter: "\r" },
  { pointer: "data" },
])("the option %j is refused", async (options) => {
  assert.deepInclude(await refusal("a.csv", "a\n", options), { code: "bad_option" })
})
