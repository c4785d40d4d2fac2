/** Imports of files into a store in memory: which rows become events, and what is reported about the rest. */
import { fileError } from "@data-cabinet/core/file/FileError"
import { Import, type ImportOptions, type ImportProgress } from "@data-cabinet/core/file/Import"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { type SheetCell, SheetReader } from "@data-cabinet/core/file/SheetReader"
import { SourceColumnStore } from "@data-cabinet/core/row/SourceColumnStore"
import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ImportsInMemory } from "./ImportsInMemory.ts"

const fileOf = (name: string, text: string | Uint8Array): ReadableFile => {
  const bytes = Buffer.from(text as string)
  return { name, size: bytes.length, bytes: inPieces(bytes) }
}

const zip = Buffer.from([0x50, 0x4b, 3, 4])

interface Given {
  readonly columns?: ReadonlyArray<{ readonly field: string; readonly type: string }>
  readonly sheet?: ReadonlyArray<ReadonlyArray<SheetCell>>
}

const over = (all: ImportsInMemory, { columns, sheet = [] }: Given = {}) => {
  const table = columns === undefined ? Option.none() : Option.some({ columns })
  const rows = Stream.make(sheet.map((cells, n) => ({ line: n + 1, cells })))
  return Import.layer.pipe(
    Layer.provide([
      all.layer,
      Layer.succeed(SheetReader, {
        open: (_file, name) => Effect.succeed({ name: name ?? "Sheet1", emptyBefore: 0, rows }),
      }),
      Layer.succeed(SourceColumnStore, { list: () => Effect.succeed(table) } as never),
    ]),
  )
}

const importing = Effect.fnUntraced(function* (
  all: ImportsInMemory,
  file: ReadableFile,
  options: ImportOptions = {},
  { told = [], ...given }: Given & { readonly told?: Array<ImportProgress> } = {},
) {
  const run = Import.use((imports) => imports.file(1, file, options, (one) => Effect.sync(() => void told.push(one))))
  const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(run, over(all, given))))
  for (let n = 0; n < 100 && fiber.pollUnsafe() === undefined; n++) {
    yield* TestClock.adjust("1 second")
    yield* Effect.promise(() => new Promise((end) => setImmediate(end)))
  }
  if (fiber.pollUnsafe() === undefined) return assert.fail("It has not ended.")
  return yield* yield* Fiber.join(fiber)
})

const textsOf = ({ events }: ImportsInMemory) => events.map(({ text }) => text)

it.effect("Import turns each row of a file into an event, and reports how it read the file", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const told: Array<ImportProgress> = []
    const rows = Array.from({ length: 1_300 }, (_, n) => `${n};Ännchen ${n};`)
    const text = ["id;name;note", ...rows, ""].join("\n")
    const report = yield* importing(all, fileOf("list.csv", text), {}, { told })
    assert.deepStrictEqual(
      textsOf(all),
      rows.map((_, n) => `{"id":"${n}","name":"Ännchen ${n}","note":""}`),
    )
    const size = Buffer.byteLength(text)
    assert.deepInclude(report, { state: "done", importId: 1, sourceId: 1, file: "list.csv", bytes: size })
    assert.deepInclude(report, { format: "csv", encoding: "utf-8", delimiter: ";", header: true, sheet: null })
    assert.deepInclude(report, { rows: 1_300, accepted: 1_300, refused: 0, refusals: [], replaced: 0, failure: null })
    assert.deepInclude(report, { readAs: [], misfits: [], importedBefore: null, preview: textsOf(all).slice(0, 5) })
    assert.deepInclude(all.events[0]!, { channel: "file", history: true })
    assert.deepStrictEqual(told[0], { phase: "looking", done: 0, total: size })
    assert.deepInclude(told, { phase: "staging", done: size, total: size })
    assert.deepInclude(told, { phase: "accepting", done: 500, total: 1_300 })
    for (const [n, { phase, done }] of told.slice(1).entries())
      if (told[n]!.phase === phase) assert.isAtLeast(done, told[n]!.done)
  }),
)

it.effect(
  "the line that declares a file's delimiter is not a row, and a character cut by the file's end is reported as replaced",
  () =>
    Effect.gen(function* () {
      const all = new ImportsInMemory()
      const declared = yield* importing(all, fileOf("a.csv", "sep=;\na;b\n1;2\n"))
      assert.deepInclude(declared, { delimiter: ";", rows: 1, replaced: 0 })
      const cut = Buffer.concat([Buffer.from("a\nЖук"), Buffer.of(0xd0)])
      const report = yield* importing(all, fileOf("b.csv", cut), { encoding: "utf-8" })
      assert.deepInclude(report, { rows: 1, replaced: 1 })
      assert.deepStrictEqual(textsOf(all), ['{"a":"1","b":"2"}', '{"a":"Жук\ufffd"}'])
    }),
)

it.effect("Import imports nothing and returns each possible reading when several delimiters fit", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const file = fileOf("a.csv", "a;b|c\n1;2|3\n")
    const report = yield* importing(all, file)
    assert.deepInclude(report, { state: "unclear", importId: null, rows: 0, delimiter: null })
    assert.deepStrictEqual(
      report.readings.map(({ delimiter, preview }) => [delimiter, ...preview]),
      [
        [";", '{"a":"1","b|c":"2|3"}'],
        ["|", '{"a;b":"1;2","c":"3"}'],
      ],
    )
    assert.deepStrictEqual([all.imports, all.events], [[], []])
    assert.deepInclude(yield* importing(all, file, { dryRun: true }), { state: "unclear" })
    assert.deepInclude(yield* importing(all, file, { delimiter: "|" }), { state: "done", delimiter: "|", readings: [] })
  }),
)

it.effect("Import reports titles, totals, short rows and replaced values by line and column", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const text = ["Report", "", "Имя;Дата;N", "Анна;1.1.2026;5", "\x01?;1.2.2026;6", "Пётр;1.3.2026", "Итого;;11", ""]
    const bytes = Buffer.from(text.join("\n"))
    bytes[bytes.indexOf(1)] = 0xff
    const report = yield* importing(all, fileOf("a.csv", bytes), { encoding: "utf-8" })
    assert.deepInclude(report, { state: "done", rows: 4, headerRow: 3, delimiter: ";", replaced: 1 })
    assert.deepStrictEqual(
      report.doubts.map(({ kind, count, places }) => [kind, count, places]),
      [
        [
          "titles_skipped",
          2,
          [
            { line: 1, column: null },
            { line: 2, column: null },
          ],
        ],
        ["totals_row", 1, [{ line: 7, column: null }]],
        ["short_rows", 1, [{ line: 6, column: null }]],
        ["values_replaced", 1, [{ line: 5, column: 1 }]],
      ],
    )
    const row = yield* importing(all, fileOf("b.csv", text.join("\n")), { headerRow: 4 })
    assert.deepInclude(row, { headerRow: 4, rows: 3 })
    assert.include(textsOf(all).at(-3), '"Анна":')
  }),
)

it.effect("Import doubts a file without rows, a false byte order mark, and lines that spaces divide evenly", () =>
  Effect.gen(function* () {
    const kinds = Effect.fnUntraced(function* (content: string | Uint8Array, options: ImportOptions = {}) {
      const report = yield* importing(new ImportsInMemory(), fileOf("a.csv", content), { ...options, dryRun: true })
      assert.isTrue(report.doubts.every(({ count }) => count === 1))
      return [report.rows, ...report.doubts.map(({ kind }) => kind)]
    })
    for (const text of ["OK", "hello world\n", "id,name\n", "", "\uFEFF", " \n"])
      assert.deepStrictEqual(yield* kinds(text), [0, "no_rows"], text)
    assert.deepStrictEqual(yield* kinds("hello\n", { header: false }), [1])
    assert.deepStrictEqual(yield* kinds("42\n"), [1])
    const marked = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from("Имя;Город\nАнна;Тула\n")])
    assert.deepStrictEqual(yield* kinds(marked), [1, "mark_ignored"])
    assert.deepStrictEqual(yield* kinds("id name age\n1 Anna 33\n2 Peter 44\n"), [2, "spaces_in_cells"])
    assert.deepStrictEqual(yield* kinds("1.0  2.0\n4.5  5.5\n10.25  1.5\n"), [2, "spaces_in_cells"])
    assert.deepStrictEqual(yield* kinds("id name age\n1 Anna 33\n2 Peter 44\n", { delimiter: "none" }), [2])
    for (const text of [
      "name\nAnna Lee\nIra Fox\n",
      "sum of it\n1 200 000\n12 500 000\n",
      "day time\n2026-01-02 10:00\n",
    ])
      assert.lengthOf(yield* kinds(text), 1, text)
  }),
)

it.effect("Import doubts a guessed encoding that the text does not confirm, but none that is given", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const kinds = (text: string, codec: string, options: object = {}) =>
      Effect.map(
        importing(all, fileOf(`${codec}.csv`, iconv.encode(text, codec)), { again: true, ...options }),
        (report) => [report.encoding, ...report.doubts.map(({ kind }) => kind)],
      )
    const russian = "Имя;Город\nАнна;Москва\nПётр;Тула\nЮлия;Санкт-Петербург\n"
    assert.deepStrictEqual(yield* kinds(russian, "koi8r"), ["koi8-r", "encoding_unclear"])
    assert.deepStrictEqual(yield* kinds(russian, "cp866"), ["ibm866", "encoding_unclear"])
    assert.include(textsOf(all), '{"Имя":"Юлия","Город":"Санкт-Петербург"}')
    assert.deepStrictEqual(yield* kinds("姓名;城市\n李明;上海\n", "gbk"), ["windows-1251", "encoding_unclear"])
    assert.deepStrictEqual(yield* kinds("姓名;城市\n李明;上海\n", "gbk", { encoding: "gbk" }), ["gb18030"])
    assert.deepStrictEqual(yield* kinds(russian, "win1251"), ["windows-1251"])
    assert.deepStrictEqual(yield* kinds("Name;Stadt\nMüller;Köln\n", "win1252"), ["windows-1252"])
    assert.deepStrictEqual(yield* kinds(russian, "utf8"), ["utf-8"])
  }),
)

it.effect("Import refuses an invalid header row, and the option of a header row for a file without one", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    for (const options of [{ headerRow: 0 }, { headerRow: 1.5 }, { headerRow: NaN }, { headerRow: 2, header: false }]) {
      const error = yield* Effect.flip(importing(all, fileOf("a.csv", "a\n1\n"), options))
      assert.deepInclude(error, { code: "bad_option" })
    }
  }),
)

it.effect("Import accepts nothing of a file with a refused row, unless the caller skips refused rows", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const lines = Array.from({ length: 150 }, (_, n) => (n % 3 === 0 ? `{"n":${n}}` : `${n}`))
    const file = fileOf("a.ndjson", lines.join("\n"))
    const refused = yield* importing(all, file)
    assert.deepInclude(refused, { state: "refused", importId: null, rows: 50, accepted: 0, refused: 100 })
    assert.deepStrictEqual(refused.refusals[0], { line: 2, column: 1, reason: "not an object" })
    assert.deepStrictEqual(textsOf(all), [])
    assert.deepInclude(all.imports[0]!.status, { state: "failed" })
    const others = yield* importing(all, file, { skipRefused: true })
    assert.deepInclude(others, { state: "done", importId: 2, rows: 50, accepted: 50, refused: 100 })
    assert.deepInclude(all.imports[1]!.status, { state: "done", refused: 100 })
    assert.lengthOf(all.events, 50)
    const many = fileOf("b.ndjson", Array.from({ length: 101 }, () => "1").join("\n"))
    const told = yield* importing(all, many, { dryRun: true })
    assert.strictEqual(told.refused, 101)
    assert.lengthOf(told.refusals, 100)
  }),
)

it.effect("Import reports the same in a dry run, and stores nothing", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const file = fileOf("a.json", '[{"a":1.0},{"b":null},{"c":12345678901234567890}]')
    const dry = yield* importing(all, file, { dryRun: true })
    assert.deepStrictEqual([all.imports, all.events], [[], []])
    const real = yield* importing(all, file)
    assert.deepStrictEqual(dry, { ...real, state: "dry_run", importId: null, accepted: 0 })
    assert.deepStrictEqual(textsOf(all), ['{"a":1.0}', '{"b":null}', '{"c":12345678901234567890}'])
    assert.deepStrictEqual(
      all.events.map(({ empty }) => empty),
      [false, true, false],
    )
  }),
)

it.effect("Import refuses a file that was imported before, names the earlier import, and repeats it on request", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const file = fileOf("a.csv", "a\n1\n")
    yield* importing(all, file)
    const same = yield* Effect.flip(importing(all, { ...file, name: "b.csv" }))
    assert.deepInclude(same, { code: "same_file" })
    assert.include(same.message, "import 1 of 2026-11-25T09:00:00Z, 1 row.")
    const again = yield* importing(all, file, { again: true })
    assert.deepInclude(again.importedBefore!, { id: 1, state: "done", name: "a.csv" })
    assert.deepStrictEqual(textsOf(all), ['{"a":"1"}', '{"a":"1"}'])
  }),
)

it.effect("Import reads another sheet of a workbook that was imported, but no sheet twice however it is chosen", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const file = fileOf("a.xlsx", zip)
    const sheet = [["a"], [1]]
    const read = (name?: string) => importing(all, file, name === undefined ? {} : { sheet: name }, { sheet })
    const refusal = (name?: string) => Effect.map(Effect.flip(read(name)), (error) => (error as { code: string }).code)
    yield* read()
    assert.strictEqual(yield* refusal("Sheet1"), "same_file")
    assert.deepInclude(yield* read("Other"), { state: "done", importedBefore: null })
    assert.deepStrictEqual([yield* refusal("Other"), yield* refusal()], ["same_file", "same_file"])
    assert.lengthOf(all.events, 2)
  }),
)

it.effect("Import refuses a file that is already being imported", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    all.fault = (call) => (call === "claim" ? "defect" : undefined)
    const file = fileOf("a.csv", "a\n1\n2\n")
    yield* Effect.exit(importing(all, file))
    const same = yield* Effect.flip(importing(all, file))
    assert.include(same.message, "is being imported into this source: import 1, 0 of 2 rows accepted")
  }),
)

it.effect("Import refuses an unknown source or an invalid option before it reads the file", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const unread = { name: "a.csv", size: 9, bytes: Stream.die("It was read.") }
    const codeOf = (options: ImportOptions) =>
      Effect.map(Effect.flip(importing(all, unread, options)), (error) => (error as { readonly code: string }).code)
    const wrong: ReadonlyArray<ImportOptions> = [
      { numbers: "roman" as never },
      { dates: "dym" as never },
      { format: "pdf" as never },
      { encoding: "klingon" },
      { delimiter: "~||||" },
      { delimiter: "" },
      { delimiter: '"' },
      { delimiter: "\n" },
      { pointer: "data" },
    ]
    for (const options of wrong) assert.strictEqual(yield* codeOf(options), "bad_option", JSON.stringify(options))
    all.source = "off"
    assert.strictEqual(yield* codeOf({}), "no_such_source")
    assert.deepStrictEqual(all.imports, [])
  }),
)

it.effect("Import accepts nothing when the file ends early or another process holds the import, and reports it", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    let reads = 0
    const bytes = Stream.suspend(() => {
      const whole = Stream.fromIterable(Array.from({ length: 900 }, () => Buffer.from("1\n")))
      return ++reads === 1 ? whole : Stream.concat(whole, Stream.fail(fileError("unreadable", "It ended early.")))
    })
    const early = yield* Effect.flip(importing(all, { name: "a.csv", size: 1_800, bytes }))
    assert.deepInclude(early, { code: "unreadable", message: "It ended early." })
    assert.deepInclude(all.imports[0]!.status, { state: "failed" })
    all.fault = (call) => (call === "seal" ? "lost" : undefined)
    const lost = yield* Effect.flip(importing(all, fileOf("b.csv", "a\n1\n")))
    assert.deepInclude(lost, { code: "interrupted" })
    assert.strictEqual(all.imports[1]!.status.state, "failed")
    assert.deepStrictEqual(textsOf(all), [])
  }),
)

it.effect("Import returns when the source is switched off meanwhile; the rows are accepted later", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    all.fault = (call) => {
      if (call === "seal") all.source = "off"
      return undefined
    }
    const report = yield* importing(all, fileOf("a.csv", "a\n1\n"))
    assert.deepInclude(report, { state: "accepting", importId: 1, accepted: 0, failure: "the source is switched off" })
  }),
)

it.effect("Import first completes an earlier import of the source that no process holds", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    all.fault = (call) => (call === "claim" ? "defect" : undefined)
    yield* Effect.exit(importing(all, fileOf("a.csv", "a\n1\n")))
    all.fault = () => undefined
    const told: Array<ImportProgress> = []
    yield* importing(all, fileOf("b.csv", "a\n2\n3\n"), {}, { told })
    assert.deepStrictEqual(textsOf(all), ['{"a":"1"}', '{"a":"2"}', '{"a":"3"}'])
    const counts = told.filter(({ phase }) => phase === "accepting").map(({ done }) => done)
    assert.strictEqual(counts.at(-1), 2)
    assert.isTrue(counts.every((count) => count === 0 || count === 2))
  }),
)

it.effect("Import waits for an import that another process holds", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    let claims = 0
    const claim = all.claim.bind(all)
    // The other process finally accepts it.
    all.claim = (id) => (++claims < 4 ? Option.none() : claim(id))
    const report = yield* importing(all, fileOf("a.csv", "a\n1\n"))
    assert.deepInclude(report, { state: "done", accepted: 1 })
    assert.strictEqual(claims, 4)
  }),
)

it.effect("Import converts fields in a notation to the type of their first column", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const columns = [
      { field: "sum", type: "numeric" },
      { field: "sum", type: "text" },
    ]
    const file = fileOf("a.csv", "sum;day\n1,50;02.03.2026\nnone;03.03.2026\n")
    const report = yield* importing(all, file, { numbers: "comma", dates: "dmy" }, { columns })
    assert.deepStrictEqual(textsOf(all), ['{"sum":1.50,"day":"2026-03-02"}', '{"sum":"none","day":"2026-03-03"}'])
    assert.deepStrictEqual(report.misfits, [{ line: 3, field: "sum", value: "none" }])
    assert.deepStrictEqual(report.preview, textsOf(all))
    const untyped = yield* importing(all, file, { numbers: "comma", again: true })
    assert.deepStrictEqual(untyped.readAs, [{ field: "sum", as: "text", fits: 1, misfits: 1 }])
    assert.strictEqual(all.events[2]!.text, '{"sum":"1,50","day":"02.03.2026"}')
  }),
)

it.effect("Import reads a sheet's numbers as shown, and skips its empty rows", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const sheet = [
      ["id", "name", "at"],
      [1, "A\0", "2024-03-01"],
      [null, "", null],
      [0.1, "half \ud800", true],
      [Number.POSITIVE_INFINITY, "x"],
    ]
    const told: Array<ImportProgress> = []
    const report = yield* importing(all, fileOf("a.xlsx", zip), { sheet: "2" }, { sheet, told })
    assert.deepStrictEqual(textsOf(all), [
      '{"id":1,"name":"A\ufffd","at":"2024-03-01"}',
      '{"id":0.1,"name":"half \ufffd","at":true}',
      '{"id":"Infinity","name":"x"}',
    ])
    assert.deepInclude(report, { format: "xlsx", sheet: "2", header: true, encoding: null, delimiter: null, rows: 3 })
    assert.deepInclude(told, { phase: "staging", done: 5, total: null })
    const plain = yield* importing(all, fileOf("b.xlsx", zip), { header: false, dryRun: true, again: true }, { sheet })
    assert.strictEqual(plain.header, false)
    assert.strictEqual(plain.preview[0], '{"column1":"id","column2":"name","column3":"at"}')
  }),
)

it.effect("Import leaves out the titles above a sheet's header, and reports them and the header's row", () =>
  Effect.gen(function* () {
    const all = new ImportsInMemory()
    const table = [
      ["name", "town", "sum", "note"],
      ["Anna", "Tver", 7],
      ["Boris", "Omsk", 8.5, "late"],
    ]
    const read = (sheet: ReadonlyArray<ReadonlyArray<SheetCell>>, options: ImportOptions = {}) =>
      importing(all, fileOf("a.xlsx", zip), { dryRun: true, ...options }, { sheet })
    const titled = yield* read([["Orders"], [null, "", null], ["March", null, 2026], ...table])
    assert.deepInclude(titled, { headerRow: 4, refused: 0, rows: 2 })
    assert.deepStrictEqual(titled.preview, [
      '{"name":"Anna","town":"Tver","sum":7}',
      '{"name":"Boris","town":"Omsk","sum":8.5,"note":"late"}',
    ])
    assert.deepStrictEqual(
      titled.doubts.map(({ kind, places }) => [kind, places.map(({ line }) => line)]),
      [["titles_skipped", [1, 3]]],
    )
    // A note far to the right of a row says nothing about the width of the table.
    const noted = yield* read([["Orders"], [], ...table, [...table[1]!, "", ...Array<null>(9), "note"]])
    assert.deepInclude(noted, { headerRow: 3, rows: 2, refused: 1 })
    // Without a blank row or a column of numbers, a line of fewer cells may be the header.
    for (const [options, sheet] of [
      [{}, [["Orders"], ["name", "town"], ["Anna", "Tver"]]],
      [{ headerRow: 1 }, [["Orders"], [], ...table]],
      [{ header: true }, [["Orders"], [], ...table]],
    ] as const) {
      const refused = yield* read(sheet, options)
      assert.deepInclude(refused, { headerRow: 1, doubts: [] })
      assert.isAbove(refused.refused, 0)
    }
    const long = yield* read([["Orders"], [], ["n", "m"], ...Array.from({ length: 200 }, (_, n) => [n, n])])
    assert.deepInclude(long, { headerRow: 3, rows: 200, refused: 0 })
    const unnamed = yield* read([["Orders"], [], ...table], { header: false })
    assert.deepInclude(unnamed, { headerRow: null, rows: 4 })
  }),
)
