import { inspectFile } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { readItems } from "@data-cabinet/core/file/ReadItems"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { Effect, Stream } from "effect"
import { assert, it } from "vitest"
import { Random } from "../intake/Random.ts"
import { csvCorpus } from "./csvCorpus.ts"

const read = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const file = { name: "a.csv", size: bytes.length, bytes: inPieces(bytes) }
    const look = yield* inspectFile(file, {})
    const reading = yield* readItems(file, look, undefined)
    const batches = yield* Stream.runCollect(reading.batches)
    const rows = batches.flatMap(({ items }) => items.map(({ payload }) => JSON.parse(jsonText(payload)) as unknown))
    const refusals = batches.flatMap((batch) => batch.refusals)
    return { look, rows, refusals, doubts: reading.doubts() }
  }).pipe(Effect.provideService(SheetReader, {} as never), Effect.scoped)

const CORPUS = csvCorpus()

it("readItems reads every file of the corpus as its original table", async () => {
  assert.isAtLeast(CORPUS.length, 150)
  const wrong: Array<unknown> = []
  for (const { name, bytes, rows } of CORPUS) {
    const found = await Effect.runPromise(Effect.result(read(bytes)))
    const got = found._tag === "Success" ? found.success : null
    if (JSON.stringify(got?.rows) !== JSON.stringify(rows) || got?.look.csv?.readings.length !== 0)
      wrong.push([name, got?.rows, got?.refusals, got?.look.csv, found._tag === "Failure" && found.failure.message])
  }
  assert.deepStrictEqual(wrong, [])
})

const MUTATIONS = Number(process.env["CSV_MUTATIONS"] ?? 150)

/** Replaces, removes, duplicates or cuts some bytes. */
const mutated = (bytes: Buffer, random: Random): Buffer => {
  let result = Buffer.from(bytes)
  for (let n = random.below(4); n >= 0; n--) {
    const at = random.below(result.length + 1)
    const end = Math.min(result.length, at + random.below(8))
    const inserted = Buffer.from(
      random.pick(["", '"', ";", ",", "\n", "\r", "\t", "|", "\0", "\xff", "0", '""', "<td>"]),
      "latin1",
    )
    result = Buffer.concat([result.subarray(0, at), inserted, result.subarray(random.pick([at, end]))])
  }
  return result
}

it("readItems reads or refuses every damaged file, and reports each refusal by its line", async () => {
  const random = new Random(48)
  for (let n = 0; n < MUTATIONS; n++) {
    const bytes = mutated(random.pick(CORPUS).bytes, random)
    const found = await Effect.runPromise(Effect.result(read(bytes)))
    if (found._tag === "Failure") assert.isNotEmpty(found.failure.message)
    else for (const { line, reason } of found.success.refusals) assert.isTrue(line >= 1 && reason !== "")
  }
}, 900_000)
