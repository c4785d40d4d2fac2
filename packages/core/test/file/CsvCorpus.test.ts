import { inspectFile } from "@data-cabinet/core/file/FileInspection"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { readItems } from "@data-cabinet/core/file/ReadItems"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { Effect, Stream } from "effect"
import { assert, it } from "vitest"
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
