/** Workbooks of other programs, compared with LibreOffice if `LIBREOFFICE` names it. */
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { SheetRow } from "@data-cabinet/core/file/SheetReader"
import { SheetFault } from "@data-cabinet/http-node/sheet/SheetFault"
import { utils, write } from "@e965/xlsx"
import { assert, it } from "vitest"
import { corpus, type CorpusWorkbook } from "../support/workbooks/corpus.ts"
import { FUZZ_SEEDS, fuzzed } from "../support/fuzzedFiles.ts"
import { damagedBook, random } from "../support/workbooks/damaged.ts"
import { isShown, LibreOffice } from "../support/workbooks/libreOffice.ts"
import { readSheet } from "../support/workbooks/readSheet.ts"

const PROGRAM = process.env["LIBREOFFICE"]
const DAMAGED = 800
const SEED = Number(process.env["FUZZ_SEED"] ?? 3)

/** Of several programs. */
const BOOKS = FUZZ_SEEDS.filter(({ file }) => /\.(?:xlsx|ods)$/.test(file))

/** Part of `npm run trials`. Without LibreOffice these tests do not exist, rather than being skipped. */
const withLibreOffice = PROGRAM === undefined ? undefined : it

const fixture = (name: string) => readFile(fileURLToPath(new URL(`../fixtures/files/${name}`, import.meta.url)))

const TABLE = [
  ["Товар", "Цена", "Есть", "Много"],
  ["Чай «Ёж & сын»", 12.5, true, 1234567890123456],
  ["  007 ", -3, false, null],
  [null, 0.1, null, "a\nb"],
]

it.each(["xlsx", "ods"] as const)("readWorkbook reads what SheetJS writes as %s", async (bookType) => {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(TABLE), "Data")
  const { sheet, rows } = await readSheet(new Uint8Array(write(book, { type: "buffer", bookType }) as Buffer))
  assert.strictEqual(sheet, "Data")
  const filled = rows.map(({ cells }) => [...cells, ...Array.from({ length: 4 - cells.length }, () => null)])
  assert.deepStrictEqual(filled, TABLE)
})

it.each([
  ["xlsb", /binary workbook \(\.xlsb\)/],
  ["xls", /directory is missing/],
] as const)("readWorkbook refuses what SheetJS writes as %s", async (bookType, words) => {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(TABLE), "Data")
  const bytes = new Uint8Array(
    write(book, { type: "buffer", bookType: bookType === "xls" ? "biff8" : bookType }) as Buffer,
  )
  const error = await readSheet(bytes).then(
    () => assert.fail("it was read"),
    (cause: unknown) => cause as Error,
  )
  assert.match(error.message, words)
})

it("readWorkbook reads what exceljs wrote", async () => {
  const { rows } = await readSheet(await fixture("exceljs.xlsx"))
  assert.deepStrictEqual(
    rows.map(({ cells }) => cells),
    [
      ["Товар", "Цена", "День", "Когда", "Время", "Есть", "Сумма", "Ошибка"],
      ["Чай «Ёж & сын»", 12.5, "2024-03-01", "2024-03-01T09:30:15", "09:00:00", true, 25, "#N/A"],
      ["две части", 0.30000000000000004, "1999-12-31", null, "18:00:00", false, 0.6],
      ["  007 ", -3],
    ],
  )
})

it("readWorkbook reads what write-excel-file wrote", async () => {
  const { rows } = await readSheet(await fixture("write-excel-file.xlsx"))
  assert.deepStrictEqual(
    rows.map(({ cells }) => cells),
    [
      ["Товар", "Цена", "День", "Есть"],
      ["Чай «Ёж & сын»", 12.5, "2024-03-01", true],
      ["  007 ", -3, "2024-03-01T09:30:15"],
    ],
  )
})

/** Cells that LibreOffice shows and we did not read. */
const lost = (rows: ReadonlyArray<SheetRow>, shown: ReadonlyArray<ReadonlyArray<string>>, same: typeof isShown) => {
  const read = new Map(rows.map(({ line, cells }) => [line, cells]))
  return shown.flatMap((cells, n) =>
    cells.flatMap((cell, column) => {
      const value = read.get(n + 1)?.[column] ?? null
      return same(value, cell) ? [] : [`row ${n + 1}, column ${column + 1}: ${JSON.stringify(value)}, not ${cell}`]
    }),
  )
}

const named = (books: ReadonlyArray<CorpusWorkbook>) =>
  books.map(({ file, bytes }, n) => ({ file: `${n}.${file}`, bytes: new Uint8Array(bytes()) }))

withLibreOffice?.("readWorkbook reads each cell of the corpus that LibreOffice shows", async () => {
  const office = new LibreOffice(PROGRAM!)
  const books = corpus().filter(({ elsewhere }) => elsewhere === undefined)
  const files = named(books)
  const shown = office.cells(files)
  const wrong = new Map<string, ReadonlyArray<string>>()
  for (const [n, { file, bytes }] of files.entries()) {
    const cells = shown.get(file)
    const found = cells === undefined ? ["it does not open it"] : lost((await readSheet(bytes)).rows, cells, isShown)
    if (found.length > 0) wrong.set(books[n]!.name, found)
  }
  assert.deepStrictEqual([...wrong], [])
  office.close()
})

withLibreOffice?.("readWorkbook reads what LibreOffice makes of the corpus", async () => {
  const office = new LibreOffice(PROGRAM!)
  const files = named(corpus().filter(({ elsewhere }, n) => elsewhere === undefined && n % 5 === 0))
  for (const to of ["ods", "xlsx"] as const) {
    const made = [...office.convert(files, to)].map(([file, bytes]) => ({
      file: file.replace(/\.\w+$/, `.${to}`),
      bytes,
    }))
    assert.isAbove(made.length, 40)
    const shown = office.cells(made)
    for (const { file, bytes } of made) {
      assert.deepStrictEqual(lost((await readSheet(bytes)).rows, shown.get(file)!, isShown), [], `${file} as ${to}`)
    }
  }
  office.close()
})

withLibreOffice?.("readWorkbook loses no cell of a damaged part that LibreOffice shows", async () => {
  const office = new LibreOffice(PROGRAM!)
  const next = random(SEED)
  const files = Array.from({ length: DAMAGED }, (_, n) => {
    const { file, bytes } = n % 2 === 0 ? damagedBook(next) : fuzzed(BOOKS[next(BOOKS.length)]!, next)
    return { file: `${n}.${file.split(".").at(-1)}`, bytes: new Uint8Array(bytes) }
  })
  const whole: Array<readonly [file: string, bytes: Uint8Array, rows: ReadonlyArray<SheetRow>]> = []
  for (const { file, bytes } of files) {
    try {
      const { rows } = await readSheet(bytes)
      if (rows.every(({ refusal }) => refusal === undefined)) whole.push([file, bytes, rows])
    } catch (cause) {
      if (!(cause instanceof SheetFault)) throw cause
    }
  }
  const shown = office.cells(whole.map(([file, bytes]) => ({ file, bytes })))
  const isLost: typeof isShown = (read, cell) => cell === "" || (read !== null && read !== "")
  const wrong = whole.flatMap(([file, , rows]) =>
    lost(rows, shown.get(file) ?? [], isLost).map((one) => `${file}: ${one}`),
  )
  assert.deepStrictEqual(wrong, [])
  office.close()
})
