/** Long work on received data yields to other tasks: counted in turns, not in time. */
import { Effect, Stream } from "effect"
import { assert, it } from "vitest"
import { PointedReader } from "../../src/file/PointedReader.ts"
import { inspectFile } from "../../src/file/FileInspection.ts"
import { inPieces, turns } from "../../src/file/Pieces.ts"
import { readItems } from "../../src/file/ReadItems.ts"
import { SheetReader } from "../../src/file/SheetReader.ts"

const MEGABYTE = 1_048_576

/** How many turns other tasks had while this ran. */
const turnsDuring = async <A>(work: Effect.Effect<A, unknown>): Promise<readonly [turns: number, result: A]> => {
  let count = 0
  let isRunning = true
  const tick = () => {
    count++
    if (isRunning) setImmediate(tick)
  }
  setImmediate(tick)
  const result = await Effect.runPromise(work)
  isRunning = false
  return [count, result]
}

it("inPieces yields all bytes in order, and to other tasks before each piece", async () => {
  const bytes = Buffer.alloc(MEGABYTE + 1, "abcdefg")
  const [count, pieces] = await turnsDuring(Stream.runCollect(inPieces(bytes)))
  assert.isTrue(Buffer.concat([...pieces]).equals(bytes))
  assert.isAtLeast(count, 16)
  assert.deepStrictEqual(await Effect.runPromise(Stream.runCollect(inPieces(new Uint8Array(0)))), [])
})

it("turns yields to other tasks after each piece of work", async () => {
  const turn = turns()
  const [count] = await turnsDuring(Effect.forEach(Array.from({ length: 200 }), () => turn(10_000), { discard: true }))
  assert.isAtLeast(count, (200 * 10_000) / 65_536 / 2)
  assert.isAtMost(count, 60)
})

it("PointedReader returns the same items piece by piece as at once", () => {
  const read = (inOneGo: boolean) => {
    const lines: Array<number> = []
    const reader = new PointedReader({ item: (line) => lines.push(line), refuse: () => assert.fail() }, "/data")
    reader.push(`{"data":[${'{"a":"0123456789"},'.repeat(60_000)}{}]}`)
    let pieces = 0
    if (inOneGo) reader.end()
    else for (const _ of reader.endInPieces()) pieces++
    return { lines, pieces }
  }
  const { lines, pieces } = read(false)
  assert.strictEqual(lines.length, 60_001)
  assert.isAtLeast(pieces, 120 + 15)
  assert.deepStrictEqual(lines, read(true).lines)
})

it("readItems yields to other tasks while it reads a whole text, with or without a pointer", async () => {
  for (const pointer of ["", "/data"]) {
    const list = `[${'{"a":"0123456789"},'.repeat(60_000)}{}]`
    const body = Buffer.from(pointer === "" ? list : `{"data":${list}}`)
    const file = { name: "x.json", size: body.length, bytes: inPieces(body) }
    const reading = Effect.gen(function* () {
      const look = yield* inspectFile(file, { format: "json", pointer })
      const items = yield* readItems(file, look, undefined)
      return yield* Stream.runFold(
        items.batches,
        () => 0,
        (sum, batch) => sum + batch.items.length,
      )
    })
    const [count, items] = await turnsDuring(
      Effect.scoped(Effect.provideService(reading, SheetReader, { open: () => Effect.die("no sheet") })),
    )
    assert.strictEqual(items, 60_001)
    assert.isAtLeast(count, pointer === "" ? 30 : 150)
  }
})
