/** Files of every format that imports read, and mutations of them, the same in each run of a seed. */
import { readFileSync } from "node:fs"
import { gunzipSync, gzipSync, inflateRawSync } from "node:zlib"
import { packedBytes, zipEntries } from "@data-cabinet/http-node/sheet/ZipArchive"
import { utils, write } from "@e965/xlsx"
import iconv from "iconv-lite"
import { corpus } from "./workbooks/corpus.ts"
import { damaged, type Random } from "./workbooks/damaged.ts"
import { zipOf, type ZipParts } from "./workbooks/zipOf.ts"

export interface NamedBytes {
  readonly file: string
  readonly bytes: Buffer
}

const TABLE = 'id;Имя;Сумма;Дата\n007;Анна «Ёж»;1,50;01.02.2026\n8;Пётр;12,00;\n9;"a;b ""c""";7,25;02.02.2026\n'
const COMMAS = 'id,name,note\r\n1,Ann,"two\nlines"\r\n2,Bob,\r\n3,Cyd,"said ""no"", and left"\r\n'
const PAGE =
  "<html><body><table border=1><tr><th>id</th><th>name</th></tr><tr><td>10</td><td>Anna &amp; Ira</td></tr><tr><td colspan=2>Ёж<br>x</td></tr></table></body></html>"
const LINES = '{"id":1,"name":"Anna","tags":["new",null]}\n{"id":22,"sum":1.50}\n{"id":333,"name":"x,\\"y\\""}\n'
const LIST = '[\n {"id": 10, "town": "Rome"},\n {"id": 20, "town": {"name": "Тула", "at": [1, -2e3]}}\n]\n'

const text = (file: string, content: string, codec = "utf8", addBOM = false): NamedBytes => ({
  file,
  bytes: iconv.encode(content, codec, { addBOM }),
})

const TEXTS: ReadonlyArray<NamedBytes> = [
  text("a.csv", TABLE),
  text("b.csv", COMMAS),
  text("c.csv", `Отчёт за январь\n\n${TABLE}Итого;;20,75;\n`),
  text("d.csv", TABLE, "win1251"),
  text("e.csv", TABLE, "utf8", true),
  text("f.csv", `sep=;\r\n${TABLE}`, "win1252"),
  text("g.csv", TABLE, "utf-16le", true),
  text("h.csv", TABLE, "utf-16be"),
  text("i.csv", COMMAS, "utf-32le", true),
  text("a.tsv", TABLE.replaceAll(";", "\t")),
  text("b.tsv", COMMAS.replaceAll(",", "\t"), "utf-16le"),
  text("a.txt", TABLE.replaceAll(";", "|")),
  text("a.html", PAGE),
  text("a.xls", PAGE.replaceAll("10", "Цена").replace("<html>", '<meta charset="windows-1251">'), "win1251"),
  text("b.xls", PAGE, "utf-16le", true),
  text("a.ndjson", LINES),
  text("b.jsonl", LINES.replaceAll("\n", "\r\n"), "utf-16le", true),
  text("a.json", LIST),
  text("b.json", '{"data":{"items":[{"a":1}]},"b":"\\u0436"}'),
]

const fixture = (file: string): NamedBytes => ({
  file,
  bytes: readFileSync(new URL(`../fixtures/files/${file}`, import.meta.url)),
})

const written = (bookType: "xlsx" | "ods"): NamedBytes => {
  const book = utils.book_new()
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ["a", "b"],
      ["Чай", 12.5],
      [true, null],
      ["007", 1e15],
    ]),
    "Data",
  )
  return { file: `sheetjs.${bookType}`, bytes: write(book, { type: "buffer", bookType }) as Buffer }
}

const BOOKS: ReadonlyArray<NamedBytes> = [
  ...["exceljs.xlsx", "write-excel-file.xlsx", "book.xlsx"].map(fixture),
  written("xlsx"),
  written("ods"),
  // Every way of writing a workbook, with varying contents.
  ...corpus()
    .filter((_, n) => n % 17 === 0)
    .slice(0, 12)
    .map(({ file, bytes }, n) => ({ file: `${n}.${file}`, bytes: bytes() })),
]

const PACKED: ReadonlyArray<NamedBytes> = [
  { file: "a.csv.gz", bytes: gzipSync(TABLE) },
  { file: "b.ndjson.gz", bytes: gzipSync(LINES) },
  { file: "a.zip", bytes: zipOf([["list.csv", TABLE]]) },
  { file: "b.zip", bytes: zipOf([["in/list.json", LIST]], { hasDescriptors: true }) },
]

export const FUZZ_SEEDS: ReadonlyArray<NamedBytes> = [...TEXTS, ...BOOKS, ...PACKED]

const unpacked = (bytes: Buffer): ZipParts =>
  zipEntries(bytes).map((entry) => {
    const packed = packedBytes(bytes, entry)
    return [entry.name, entry.method === 0 ? Buffer.from(packed) : inflateRawSync(packed)] as const
  })

/** Changes inside an archive: otherwise its checksums refuse nearly every one. */
const mutatedInside = ({ file, bytes }: NamedBytes, next: Random): Buffer => {
  if (file.endsWith(".gz")) return gzipSync(mutated(gunzipSync(bytes), next))
  const parts = unpacked(bytes)
  const chosen = next(parts.length)
  return zipOf(
    parts.map(([name, content], n) => [name, n === chosen ? mutated(Buffer.from(content), next) : content] as const),
  )
}

const mutated = (bytes: Buffer, next: Random): Buffer => {
  let result = bytes
  for (let n = next(3); n >= 0 && result.length > 0; n--) result = damaged(result, next)
  return result
}

const isArchive = ({ bytes }: NamedBytes): boolean =>
  bytes.readUInt16BE(0) === 0x504b || bytes.readUInt16BE(0) === 0x1f8b

export const fuzzed = (seed: NamedBytes, next: Random): NamedBytes => ({
  file: seed.file,
  bytes: isArchive(seed) && next(4) > 0 ? mutatedInside(seed, next) : mutated(seed.bytes, next),
})
