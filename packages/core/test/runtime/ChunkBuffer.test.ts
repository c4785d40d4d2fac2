import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import { assert, it } from "vitest"
import { Random } from "../intake/Random.ts"

const filled = (chunks: ReadonlyArray<Uint8Array>): ChunkBuffer => {
  const buffer = new ChunkBuffer()
  for (const chunk of chunks) buffer.add(chunk)
  return buffer
}

it("ChunkBuffer keeps every byte in order, however the body is chunked", () => {
  const random = new Random(7)
  for (let run = 0; run < 300; run++) {
    const chunks = Array.from({ length: random.below(12) }, () =>
      Uint8Array.from({ length: random.below(run % 10 === 0 ? 3_000 : 40) }, () => random.below(256)),
    )
    const buffer = filled(chunks)
    const whole = Buffer.concat(chunks)
    assert.strictEqual(buffer.length, whole.length)
    assert.isTrue(whole.equals(buffer.bytes()))
  }
})

it("ChunkBuffer passes a single chunk on without a copy", () => {
  const chunk = Uint8Array.of(1, 2, 3)
  assert.strictEqual(filled([chunk]).bytes(), chunk)
  assert.strictEqual(filled([new Uint8Array(0), chunk]).bytes(), chunk)
})

it("ChunkBuffer does not change the chunks", () => {
  const chunks = [Uint8Array.of(1), Uint8Array.of(2)]
  const bytes = filled(chunks).bytes()
  bytes.fill(9)
  assert.deepStrictEqual(chunks, [Uint8Array.of(1), Uint8Array.of(2)])
})

it("ChunkBuffer holds a body of single bytes in little more memory than its bytes", () => {
  const one = Uint8Array.of(1)
  const { byteLength } = filled(Array.from({ length: 100_000 }, () => one)).bytes().buffer
  assert.isAtMost(byteLength, 200_000)
})
