import { readFile } from "node:fs/promises"
import { crc32, deflateRawSync } from "node:zlib"
import { MAX_ITEM_LENGTH } from "@data-cabinet/core/file/FileItem"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { Context, Effect, Layer, Stream } from "effect"
import { assert, it } from "vitest"
import type { SheetLimits } from "../../src/sheet/SheetLimits.ts"
import { layer } from "../../src/file/WorkerSheetReader.ts"

const BOOK = new URL("../../../../test/fixtures/files/book.xlsx", import.meta.url)

const fileOf = (bytes: Uint8Array): ReadableFile => ({ name: "x.xlsx", size: bytes.length, bytes: Stream.make(bytes) })

const rows = (bytes: Uint8Array, sheet?: string, limits: Partial<SheetLimits> = {}) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const opened = yield* (yield* SheetReader).open(fileOf(bytes), sheet)
      return (yield* Stream.runCollect(opened.rows)).flat()
    }).pipe(Effect.scoped, Effect.result, Effect.provide(layer(limits))),
  )

const failure = async (...args: Parameters<typeof rows>) => {
  const result = await rows(...args)
  return result._tag === "Failure" ? result.failure : assert.fail("it was read")
}

/** A zip archive of these parts; `claims` is the size of a part that its directory declares. */
const zip = (parts: ReadonlyArray<readonly [name: string, content: Buffer]>, claims?: number): Buffer => {
  const bodies: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let at = 0
  for (const [name, content] of parts) {
    const packed = deflateRawSync(content, { level: 1 })
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt32LE(crc32(content), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(claims ?? content.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), shared, Buffer.from(name), packed])
    const entry = Buffer.alloc(46)
    entry.write("PK\x01\x02", "latin1")
    shared.copy(entry, 6)
    entry.writeUInt32LE(at, 42)
    directory.push(Buffer.concat([entry, Buffer.from(name)]))
    bodies.push(local)
    at += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06", "latin1")
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, entries, end])
}

interface Parts {
  /** The size that the directory declares for every part. */
  readonly claims?: number
  /** The list of sheets. */
  readonly list?: string
  readonly strings?: Buffer
  /** The path of the shared strings. */
  readonly stringsAt?: string
}

const LIST = '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'

const workbook = (
  sheet: Buffer,
  { claims, list = LIST, strings, stringsAt = "sharedStrings.xml" }: Parts = {},
): Buffer =>
  zip(
    [
      ...(strings === undefined ? [] : [[`xl/${stringsAt}`, strings] as const]),
      [
        "[Content_Types].xml",
        Buffer.from(
          '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
        ),
      ],
      [
        "_rels/.rels",
        Buffer.from(
          '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        ),
      ],
      [
        "xl/workbook.xml",
        Buffer.from(
          `<?xml version="1.0"?><workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${list}</workbook>`,
        ),
      ],
      [
        "xl/_rels/workbook.xml.rels",
        Buffer.from(
          `<?xml version="1.0"?><Relationships><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="${stringsAt}"/></Relationships>`,
        ),
      ],
      ["xl/worksheets/sheet1.xml", sheet],
    ],
    claims,
  )

const sheetOf = (cells: string) =>
  Buffer.from(`<?xml version="1.0"?><worksheet><sheetData>${cells}</sheetData></worksheet>`)

it("SheetReader reads a sheet by name or number, or the first", async () => {
  const book = await readFile(BOOK)
  const second = await rows(book, "Second")
  assert.deepStrictEqual(second._tag === "Success" && second.success, [
    { line: 1, cells: ["n"] },
    { line: 2, cells: [1] },
  ])
  assert.deepStrictEqual(await rows(book, "2"), second)
  assert.match((await failure(book, "Third")).message, /Third|no such sheet/i)
})

it("SheetReader reads booleans, and a workbook's own part names", async () => {
  const cells = '<row r="3"><c r="B3" t="b"><v>1</v></c><c r="D3"><v>0.1</v></c><c r="E3" t="e"><v>#N/A</v></c></row>'
  const read = await rows(workbook(sheetOf(cells)))
  assert.deepStrictEqual(read._tag === "Success" && read.success, [{ line: 3, cells: [null, true, null, 0.1, "#N/A"] }])
})

it("SheetReader waits for its consumer, and ends when its consumer stops", async () => {
  const many = Array.from({ length: 20_000 }, (_, n) => `<row r="${n + 1}"><c r="A${n + 1}"><v>${n}</v></c></row>`)
  const first = await Effect.runPromise(
    Effect.gen(function* () {
      const opened = yield* (yield* SheetReader).open(fileOf(workbook(sheetOf(many.join("")))), undefined)
      return yield* opened.rows.pipe(Stream.take(2), Stream.runCollect)
    }).pipe(Effect.scoped, Effect.provide(layer())),
  )
  assert.strictEqual(first.flat().length, 1000)
})

it("SheetReader reports an overlong row, and bounds each batch, however often a text is shared", async () => {
  const text = "x".repeat(32_000)
  const strings = Buffer.from(`<?xml version="1.0"?><sst><si><t>${text}</t></si></sst>`)
  const row = (line: number, cells: number) => `<row r="${line}">${'<c t="s"><v>0</v></c>'.repeat(cells)}</row>`
  // 32,000 characters in the file, but half a gigabyte if each cell had its own copy.
  const lines = [row(1, 1), row(2, 16_000), ...Array.from({ length: 200 }, (_, n) => row(n + 3, 30))]
  const batches = await Effect.runPromise(
    Effect.gen(function* () {
      const opened = yield* (yield* SheetReader).open(fileOf(workbook(sheetOf(lines.join("")), { strings })), undefined)
      return yield* opened.rows.pipe(
        Stream.map((batch) =>
          batch.map(({ line, cells, tooLong }) => ({ line, tooLong, length: cells.join("").length })),
        ),
        Stream.runCollect,
      )
    }).pipe(Effect.scoped, Effect.provide(layer())),
  )
  const all = batches.flat()
  assert.deepStrictEqual(all[0], { line: 1, tooLong: undefined, length: 32_000 })
  assert.deepStrictEqual(all[1], { line: 2, tooLong: true, length: 0 })
  assert.deepStrictEqual(all.at(-1), { line: 202, tooLong: undefined, length: 960_000 })
  for (const batch of batches)
    assert.isAtMost(
      batch.reduce((sum, { length }) => sum + length, 0),
      2 * MAX_ITEM_LENGTH,
    )
})

it("SheetReader refuses a workbook that declares too much before unpacking it, and too large an archive before reading it", async () => {
  const small = workbook(sheetOf(""))
  assert.deepInclude(await failure(workbook(sheetOf(""), { claims: 0x90000000 })), { code: "too_large" })
  assert.deepInclude(await failure(small, undefined, { archiveBytes: 100 }), { code: "too_large" })
  assert.match((await failure(small.subarray(0, small.length - 30))).message, /truncated/)
  assert.deepInclude(await failure(Buffer.from("PK\x03\x04 and nothing else")), { code: "unreadable" })
})

it("SheetReader survives a zip bomb that declares a false size", async () => {
  // One cell of 300 MB in an archive of less than 2 MB, whose directory declares 1,000 bytes.
  const bomb = workbook(
    Buffer.concat([
      Buffer.from('<?xml version="1.0"?><worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>'),
      Buffer.alloc(300 * 1024 ** 2, "x"),
      Buffer.from("</t></is></c></row></sheetData></worksheet>"),
    ]),
    { claims: 1000 },
  )
  const error = await failure(bomb, undefined, { heapMegabytes: 64, idleMillis: 20_000 })
  assert.include(["too_large", "unreadable"], error.code)
  assert.isBelow(process.memoryUsage().heapUsed, 500 * 1024 ** 2)
})

type Reader = Context.Service.Shape<typeof SheetReader>

/** The reader of another cabinet in the process. */
const cabinetReader = (one: ReturnType<typeof layer>) =>
  Effect.map(Layer.build(Layer.fresh(one)), (context) => Context.get(context, SheetReader))

const rowCount = (reader: Reader, bytes: Uint8Array) =>
  Effect.scoped(
    Effect.flatMap(reader.open(fileOf(bytes), undefined), ({ rows: found }) =>
      Effect.map(Stream.runCollect(found), (batches) => batches.flat().length),
    ),
  )

const textOf = (index: number) => sheetOf(`<row r="1"><c r="A1" t="s"><v>${index}</v></c></row>`)
const strings = (bytes: number) =>
  Buffer.concat([Buffer.from("<sst><si><t>"), Buffer.alloc(bytes, "x"), Buffer.from("</t></si></sst>")])

it("SheetReader refuses a part that has to be read whole and declares a large size, or none", async () => {
  const limits = { partBytes: 10_000 }
  const read = await rows(workbook(textOf(0), { strings: strings(5_000) }), undefined, limits)
  assert.strictEqual(read._tag === "Success" && read.success[0]!.cells[0], "x".repeat(5_000))
  const large = await failure(workbook(textOf(0), { strings: strings(20_000) }), undefined, limits)
  assert.strictEqual(large.code, "too_large")
  assert.match(large.message, /sharedStrings\.xml .* as CSV/)
  // The rows of a sheet are read as they arrive.
  const many = sheetOf(`<row r="1"><c r="A1"><v>1</v></c></row>${" ".repeat(20_000)}`)
  assert.strictEqual((await rows(workbook(many), undefined, limits))._tag, "Success")
  assert.deepInclude(await failure(workbook(textOf(0), { claims: 0 })), { code: "unreadable" })
})

const ONE_ROW = '<row r="1"><c r="A1"><v>1</v></c></row>'

it("SheetReader reads a list of sheets in linear time", async () => {
  // 4 MB of opening tags that never end: quadratic work would take hours.
  const error = await failure(workbook(sheetOf(""), { list: "<sheet ".repeat(590_000) }), undefined, {
    idleMillis: 50_000,
  })
  assert.deepInclude(error, { code: "unreadable" })
  const list = `<sheets><x:sheet\n xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" state="hidden" name="A&amp;B" sheetId="1" r:id="rId1"/><sheet name='C' r:id="rId1"/></sheets>`
  assert.match((await failure(workbook(sheetOf(""), { list }), "D")).message, /no sheet D; its sheets are A&B, C/)
  assert.strictEqual((await rows(workbook(sheetOf(ONE_ROW), { list })))._tag, "Success")
})

it("SheetReader reads an honest workbook beside a hostile one", async () => {
  const honest = workbook(sheetOf(ONE_ROW))
  const bomb = workbook(textOf(0), { strings: strings(150 * 1024 ** 2), claims: 1000 })
  const read = (bytes: Buffer) =>
    Effect.gen(function* () {
      const opened = yield* (yield* SheetReader).open(fileOf(bytes), undefined)
      return (yield* Stream.runCollect(opened.rows)).flat().length
    }).pipe(Effect.scoped, Effect.result)
  const both = await Effect.runPromise(
    Effect.all([read(bomb), read(honest), read(honest)], { concurrency: 3 }).pipe(
      Effect.provide(layer({ atOnce: 2, heapMegabytes: 128, idleMillis: 50_000 })),
    ),
  )
  assert.deepStrictEqual(
    both.map(({ _tag }) => _tag),
    ["Failure", "Success", "Success"],
  )
})

it("SheetReader refuses a workbook as busy when all slots are taken", async () => {
  const honest = workbook(sheetOf(ONE_ROW))

  const turns = await Effect.runPromise(
    Effect.gen(function* () {
      const both = layer({ atOnce: 1, waitMillis: 50 })
      const [first, second] = yield* Effect.all([cabinetReader(both), cabinetReader(both)])
      const held = Effect.scoped(
        Effect.andThen(first.open(fileOf(honest), undefined), Effect.result(rowCount(second, honest))),
      )
      return [yield* held, yield* Effect.result(rowCount(second, honest))] as const
    }).pipe(Effect.scoped),
  )
  assert.isTrue(turns[0]._tag === "Failure" && turns[0].failure.code === "busy")
  assert.match(turns[0]._tag === "Failure" ? turns[0].failure.message : "", /^1 workbooks are being read/)
  assert.strictEqual(turns[1]._tag, "Success")
})

it("SheetReader reads one workbook of a cabinet at a time, so that another cabinet finds a slot", async () => {
  const honest = workbook(sheetOf(ONE_ROW))
  const [same, other] = await Effect.runPromise(
    Effect.gen(function* () {
      const both = layer({ atOnce: 2, waitMillis: 50 })
      const [first, second] = yield* Effect.all([cabinetReader(both), cabinetReader(both)])
      yield* first.open(fileOf(honest), undefined)
      return [yield* Effect.result(rowCount(first, honest)), yield* Effect.result(rowCount(second, honest))] as const
    }).pipe(Effect.scoped),
  )
  assert.isTrue(same._tag === "Failure" && same.failure.code === "busy")
  assert.match(same._tag === "Failure" ? same.failure.message : "", /^Another workbook of this cabinet is being read/)
  assert.strictEqual(other._tag === "Success" && other.success, 1)
})

it("SheetReader refuses a workbook that unpacks to far more than its own size", async () => {
  const sparse = workbook(Buffer.concat([sheetOf(ONE_ROW), Buffer.alloc(3 * 1024 ** 2, " ")]))
  const limits = { freeUnpackedBytes: 1024 ** 2, unpackedRatio: 10 }
  const error = await failure(sparse, undefined, limits)
  assert.strictEqual(error.code, "too_large")
  assert.match(error.message, /unpacked size of 3 MB; at most 1 MB are read of an archive of/)
  assert.strictEqual((await rows(sparse))._tag, "Success")
})
