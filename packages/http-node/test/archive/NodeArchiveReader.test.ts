import { MAX_FILE_BYTES } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { Effect, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { assert, it } from "vitest"
import { layer } from "../../src/archive/NodeArchiveReader.ts"
import { zipOf, type ZipParts, type ZipWays } from "../../../../test/support/workbooks/zipOf.ts"
import { ArchiveReader } from "@data-cabinet/core/file/ReadableFile"

const opening = (name: string, bytes: Uint8Array, maxBytes = MAX_FILE_BYTES) =>
  Effect.gen(function* () {
    const given = { name, size: bytes.length, bytes: inPieces(bytes) }
    const file = yield* (yield* ArchiveReader).open(given, maxBytes)
    const texts = []
    // Imports read a file several times.
    for (let n = 0; n < 2; n++) texts.push(Buffer.concat(yield* Stream.runCollect(file.bytes)).toString())
    assert.strictEqual(texts[0], texts[1])
    return { name: file.name, text: texts[0]!, isSame: file === given }
  }).pipe(Effect.provide(layer))

const open = (...given: Parameters<typeof opening>) => Effect.runPromise(opening(...given))
const refusal = (...given: Parameters<typeof opening>) => Effect.runPromise(Effect.flip(opening(...given)))

const TEXT = "name,sum\nAnna,1\nПётр,2\n"
/** Larger than any piece, and hard to compress. */
const LONG = Array.from({ length: 40_000 }, (_, n) => `${n},${(n * 7919) % 100_003}\n`).join("")

const gz = gzipSync(TEXT)

it.each<[string, Buffer, string, string]>([
  ["a.csv.gz", gz, "a.csv", TEXT],
  ["A.CSV.GZ", gz, "A.CSV", TEXT],
  ["a.csv", gz, "a.csv", TEXT],
  ["a.gzip", gz, "a", TEXT],
  ["two members.gz", Buffer.concat([gz, gzipSync("Ира,3\n")]), "two members", `${TEXT}Ира,3\n`],
  ["padded.gz", Buffer.concat([gz, Buffer.alloc(200_000)]), "padded", TEXT],
  ["stored.gz", gzipSync(LONG, { level: 0 }), "stored", LONG],
  ["long.gz", gzipSync(LONG), "long", LONG],
  ["empty.gz", gzipSync(""), "empty", ""],
  ["within.gz", gzipSync(gz), "within", gz.toString()],
])("NodeArchiveReader opens the gzip archive %s", async (name, bytes, inner, text) => {
  assert.deepStrictEqual(await open(name, bytes), { name: inner, text, isSame: false })
})

it.each<[string, ZipParts, ZipWays]>([
  ["one file", [["a.csv", TEXT]], {}],
  ["a stored file", [["a.csv", TEXT]], { isStored: true }],
  ["sizes behind the file", [["a.csv", TEXT]], { hasDescriptors: true }],
  ["64-bit sizes", [["a.csv", TEXT]], { is64: true }],
  ["a comment", [["a.csv", TEXT]], { comment: "made by a shop" }],
  [
    "folders",
    [
      ["data/", ""],
      ["data/2026/", ""],
      ["data/2026/a.csv", TEXT],
    ],
    {},
  ],
  ["a folder with backslashes", [["data\\a.csv", TEXT]], {}],
  [
    "what a Mac adds",
    [
      ["a.csv", TEXT],
      ["__MACOSX/._a.csv", "x"],
      [".DS_Store", "x"],
    ],
    {},
  ],
  [
    "what Windows adds",
    [
      ["a.csv", TEXT],
      ["Thumbs.db", "x"],
      ["desktop.ini", "x"],
    ],
    {},
  ],
  ["a long file", [["a.csv", LONG]], {}],
  ["an empty file", [["a.csv", ""]], { isStored: true }],
])("NodeArchiveReader opens a zip archive with %s", async (_, parts, ways) => {
  const text = parts.find(([name]) => name.endsWith("a.csv"))![1]
  assert.deepStrictEqual(await open("x.zip", zipOf(parts, ways)), { name: "a.csv", text: String(text), isSame: false })
})

it.each<[string, Buffer | string]>([
  ["a.csv", TEXT],
  ["a.csv", ""],
  ["a.csv", "PK"],
  ["a.csv", "\u001f\u008b"],
  ["book.xlsx", zipOf([["[Content_Types].xml", "<x/>"]])],
  ["book.xlsx", zipOf([["xl\\workbook.xml", "<x/>"]])],
  ["book.ods", zipOf([["mimetype", "application/vnd.oasis.opendocument.spreadsheet"]], { isStored: true })],
  ["text.docx", zipOf([["word/document.xml", "<x/>"]])],
  ["a.jar", zipOf([["META-INF/MANIFEST.MF", "x"]])],
  ["a.numbers", zipOf([["Index/Document.iwa", "x"]])],
])("NodeArchiveReader leaves %s unchanged", async (name, content) => {
  assert.isTrue((await open(name, Buffer.from(content as string))).isSame)
})

const damagedLong = Buffer.from(gzipSync(LONG))
damagedLong[damagedLong.length >> 1]! ^= 0xff
const wrongSum = Buffer.from(gz)
wrongSum[gz.length - 6]! ^= 1
const longZip = zipOf([["a.csv", LONG]])
const damagedZip = Buffer.from(longZip)
damagedZip[longZip.length >> 1]! ^= 0xff
const twelve: ZipParts = Array.from({ length: 12 }, (_, n) => [`${n}.csv`, TEXT] as const)

it.each<[string, Buffer, RegExp]>([
  ["gzip cut off", gz.subarray(0, -9), /gzip archive cannot be read: it is cut off after byte \d+\.$/],
  ["gzip without its checksum", gz.subarray(0, -8), /cut off after byte/],
  ["a gzip header alone", gz.subarray(0, 10), /cut off after byte 10/],
  ["gzip that is damaged in the middle", damagedLong, /is damaged after byte \d+ \(/],
  ["gzip with a wrong checksum", wrongSum, /is damaged after byte \d+ \(incorrect data check\)/],
  ["gzip with text behind it", Buffer.concat([gz, Buffer.from("more data")]), /damaged after byte|data follow its end/],
  [
    "gzip with data behind its padding",
    Buffer.concat([gz, Buffer.alloc(9_000), Buffer.from("x")]),
    new RegExp(`other data follow its end, at byte ${gz.length + 9_000}`),
  ],
  ["zip cut off", longZip.subarray(0, -30), /zip archive cannot be read: its directory is missing/],
  ["zip that is damaged in the middle", damagedZip, /a\.csv is damaged|it is damaged after byte|has more bytes/],
  ["zip with a wrong checksum", zipOf([["a.csv", TEXT]], { crc: 1 }), /a\.csv is damaged: its checksum is wrong/],
  ["zip with a wrong size", zipOf([["a.csv", TEXT]], { claims: 5 }), /has more bytes than the directory states/],
  [
    "zip with too large a size",
    zipOf([["a.csv", TEXT]], { claims: 500 }),
    /a\.csv is damaged: it has \d+ bytes, but the directory states 500/,
  ],
  ["an encrypted zip", zipOf([["a.csv", TEXT]], { flags: 0x801 }), /a\.csv is encrypted/],
  ["zip by LZMA", zipOf([["a.csv", TEXT]], { method: 14 }), /compressed by LZMA/],
  ["an empty zip", zipOf([]), /it is empty/],
  ["a zip of folders", zipOf([["data/", ""]]), /it contains no file/],
  [
    "a zip of two files",
    zipOf([
      ["a.csv", TEXT],
      ["b/b.csv", TEXT],
    ]),
    /it holds 2 files \(a\.csv, b\/b\.csv\); send one of them/,
  ],
  ["a zip of twelve files", zipOf(twelve), /it holds 12 files \(0\.csv, .*9\.csv, …\)/],
  ["a part of a split zip", Buffer.from("PK\x07\x08rest", "latin1"), /one part of several/],
])("NodeArchiveReader refuses %s with a message", async (_, bytes, words) => {
  const error = await refusal("a", bytes)
  assert.strictEqual(error.code, "unreadable")
  assert.match(error.message, words)
})

it("NodeArchiveReader gives a file without a name the name of its archive", async () => {
  for (const inside of ["", " ", "data/ "]) {
    const { name, text } = await open("orders.zip", zipOf([[inside, TEXT]]))
    assert.deepStrictEqual([name, text], ["orders.zip", TEXT], JSON.stringify(inside))
  }
  assert.strictEqual((await open(".gz", gz)).name, ".gz")
})

it("NodeArchiveReader refuses an archive that is cut off anywhere", async () => {
  for (const whole of [gz, zipOf([["a.csv", TEXT]])]) {
    for (let length = 4; length < whole.length; length++) {
      assert.strictEqual((await refusal("a", whole.subarray(0, length))).code, "unreadable", `${length} bytes`)
    }
  }
})

it("NodeArchiveReader refuses archives that unpack to more than a hundred times their size", async () => {
  const member = gzipSync(Buffer.alloc(16 * 1024 ** 2, "0,0,0\n"))
  const unpacking = Buffer.concat(Array.from({ length: 10 }, () => member))
  const stating = zipOf([["a.csv", TEXT]], { claims: 300 * 1024 ** 2 })
  for (const bytes of [unpacking, stating]) {
    const error = await refusal("a", bytes)
    assert.strictEqual(error.code, "too_large")
    assert.match(error.message, /unpacks to more than 1\d\d MB, which is over 100 times its own size/)
  }
})

it("NodeArchiveReader refuses an archive that unpacks to more than its caller allows", async () => {
  for (const bytes of [gzipSync(LONG), zipOf([["a.csv", LONG]])]) {
    const error = await refusal("a", bytes, 1_048_576 >> 4)
    assert.deepInclude(error, { code: "too_large" })
    assert.match(error.message, /unpacks to more than 0 MB\.$/)
  }
})

it("NodeArchiveReader reports why the bytes of an archive ended early", async () => {
  const broken = {
    name: "a.gz",
    size: 9,
    bytes: Stream.concat(Stream.make(gz.subarray(0, 20)), Stream.fail("x" as never)),
  }
  const error = await Effect.runPromise(
    Effect.flip(
      Effect.gen(function* () {
        const file = yield* (yield* ArchiveReader).open(broken, MAX_FILE_BYTES)
        yield* Stream.runDrain(file.bytes)
      }).pipe(Effect.provide(layer)),
    ),
  )
  assert.match(error.message, /x/)
})
