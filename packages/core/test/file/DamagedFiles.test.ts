/** Damaged files of every text format: each is refused, or read without losing a cell. */
import { inspectFile } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { readItems } from "@data-cabinet/core/file/ReadItems"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { Effect, Stream } from "effect"
import iconv from "iconv-lite"
import { assert, it } from "vitest"
import { Random } from "../intake/Random.ts"
import { csvCorpus } from "./csvCorpus.ts"

const MUTATIONS = Number(process.env["FILE_MUTATIONS"] ?? 400)
const PIECES = [
  "",
  '"',
  ";",
  ",",
  "\n",
  "\r",
  "\t",
  "|",
  "\0",
  "\xff",
  "0",
  '""',
  "<td>",
  "{",
  "}",
  "[",
  "\\",
  "<",
  ">",
]

interface Seed {
  readonly name: string
  readonly bytes: Buffer
}

const LISTS = [
  '{"id":1,"name":"Anna Lee","tags":["new","vip"]}\n{"id":22,"name":"Ёж Петров","sum":1.50}\n{"id":333,"name":"x,\\"y\\""}\n',
  '{"a":"12,50","b":{"c":[true,null,-4e2]}}\r\n{"a":"\\u0436ук","b":{}}\r\n\r\n{"a":"7","b":{"c":[]}}',
  '[\n {"id": 10, "town": "Rome"},\n {"id": 20, "town": "Тула"},\n {"id": 30, "town": ""}\n]\n',
  '\u001E{"id":10}\n\u001E{"id":20,"x":[[["deep"]]]}\n',
]
const PAGES = [
  "<html><body><table border=1><tr><th>id</th><th>name</th></tr><tr><td>10</td><td>Anna &amp; Ira</td></tr><tr><td>20</td><td>Ёж</td></tr></table></body></html>",
  '<meta charset="windows-1251"><table><thead><tr><td>Код</td><td>Цена</td></tr></thead><tbody><tr><td>007</td><td>1,50</td></tr><tr><td>008</td><td>12,00</td></tr></tbody></table>',
  "<table>\r\n<tr>\r\n<td>aa</td>\r\n<td>bb</td>\r\n<td>cc</td>\r\n</tr>\r\n<tr>\r\n<td colspan=2>11</td>\r\n<td>22</td>\r\n</tr>\r\n<tr>\r\n<td>33</td>\r\n<td>44<br>55</td>\r\n<td></td>\r\n</tr>\r\n</table>\r\n",
]
const SEEDS: ReadonlyArray<Seed> = [
  ...csvCorpus().filter((_, n) => n % 6 === 0),
  ...LISTS.map((text, n) => ({ name: n === 2 ? "a.json" : "a.jsonl", bytes: Buffer.from(text) })),
  ...PAGES.map((text, n) => ({ name: "a.xls", bytes: iconv.encode(text, n === 1 ? "win1251" : "utf8") })),
].map(({ name, bytes }) => ({ name: name.startsWith("a.") ? name : "a.csv", bytes }))

const read = ({ name, bytes }: Seed) =>
  Effect.gen(function* () {
    const file = { name, size: bytes.length, bytes: inPieces(bytes) }
    const look = yield* inspectFile(file, {})
    const reading = yield* readItems(file, look, undefined)
    const batches = yield* Stream.runCollect(reading.batches)
    const rows = batches.flatMap(({ items }) => items.map(({ payload }) => JSON.parse(jsonText(payload)) as unknown))
    return { look, rows, refusals: batches.flatMap((batch) => batch.refusals), header: reading.header }
  }).pipe(Effect.provideService(SheetReader, {} as never), Effect.scoped)

/** Replaces, removes, duplicates or cuts some bytes. */
const damaged = (bytes: Buffer, random: Random): Buffer => {
  let result = Buffer.from(bytes)
  for (let n = random.below(4); n >= 0; n--) {
    const at = random.below(result.length + 1)
    const end = Math.min(result.length, at + random.below(8))
    const inserted = Buffer.from(random.pick(PIECES), "latin1")
    result = Buffer.concat([result.subarray(0, at), inserted, result.subarray(random.pick([at, end]))])
  }
  return result
}

/** How often each letter and digit occurs. */
const countLetters = (text: string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const [letter] of text.matchAll(/[\p{L}\p{N}]/gu)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  return counts
}

/** The names of the rows, once each, and all their values. */
const lettersOf = (rows: ReadonlyArray<unknown>) => {
  const names = new Set<string>()
  const values: Array<string> = []
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) values.push(String(value))
    else
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) names.add(name)
        walk(member)
      }
  }
  walk(rows)
  return countLetters([...names, ...values].join(" "))
}

/** What is in the cells below the header. */
const csvCells = (text: string, firstLine: number, hasHeader: boolean): string => {
  const lines = text.split(/\r\n|\n|\r/)
  let from = firstLine - 1
  while (from < lines.length && lines[from]!.trim() === "") from++
  return lines.slice(hasHeader ? from + 1 : from).join("\n")
}
const pageCells = (text: string): string => {
  const [, ...below] = text.split("</tr>")
  const cells = below.join("").matchAll(/<t[dh](?: [^<>]*)?>([^<>]*)<\/t[dh]>/g)
  return [...cells].map(([, cell]) => cell!.replaceAll(/&\w+;?/g, "")).join(" ")
}

/** The lines as JSON; undefined if a line is not JSON. */
const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<unknown> | undefined => {
  try {
    return texts.map((text) => JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** The letters that occur less often in the rows than in the file's cells; or the rows as they should be. */
const lost = (bytes: Buffer, { look, rows, header }: Effect.Success<ReturnType<typeof read>>) => {
  const text = iconv.decode(bytes, look.charset!.name)
  if (look.format === "json" || look.format === "ndjson") {
    const texts = look.format === "json" ? [text] : text.split("\n").map((line) => line.replace("\u001E", ""))
    const values = parsed(texts.filter((line) => line.trim() !== ""))
    if (values === undefined || JSON.stringify(values.flat()) === JSON.stringify(rows)) return []
    return values
  }
  const isCsv = look.csv !== null
  const found = lettersOf(rows)
  const letters = countLetters(isCsv ? csvCells(text, look.csv!.firstLine, header === true) : pageCells(text))
  return [...letters].filter(([letter, count]) => (found.get(letter) ?? 0) < count)
}

it("readItems refuses a damaged file, or reads it without losing a cell", async () => {
  const random = new Random(48)
  const wrong: Array<unknown> = []
  let whole = 0
  for (let n = 0; n < MUTATIONS; n++) {
    const { name, bytes: intact } = random.pick(SEEDS)
    const bytes = damaged(intact, random)
    const result = await Effect.runPromise(Effect.result(read({ name, bytes })))
    if (result._tag === "Failure") {
      assert.isNotEmpty(result.failure.message)
      continue
    }
    const { look, rows, refusals } = result.success
    for (const { line, reason } of refusals) assert.isTrue(line >= 1 && reason !== "")
    if (refusals.length > 0 || (look.csv?.readings.length ?? 0) > 0) continue
    whole++
    const missing = lost(bytes, result.success)
    if (missing.length > 0) wrong.push([bytes.toString("latin1"), look.charset?.name, rows, missing])
  }
  assert.deepStrictEqual(wrong, [])
  assert.isAbove(whole, MUTATIONS / 5)
}, 900_000)
