import type { StagedRow } from "@data-cabinet/core/file/ImportStore"
import { stageBatches } from "@data-cabinet/core/file/StageBatches"
import { Effect } from "effect"
import { assert, it } from "vitest"

const staged = (adds: ReadonlyArray<ReadonlyArray<number>>) => {
  const batches: Array<ReadonlyArray<StagedRow>> = []
  const stage = (_: unknown, rows: ReadonlyArray<StagedRow>) => Effect.sync(() => void batches.push(rows))
  const staging = stageBatches({ stage } as never, { id: 1, lease: "1" })
  const rowsOf = (lengths: ReadonlyArray<number>) =>
    lengths.map((length) => ({ payload: "x".repeat(length), empty: length === 0 }))
  Effect.runSync(Effect.forEach(adds, (lengths) => staging.add(rowsOf(lengths))))
  const before = batches.length
  Effect.runSync(Effect.andThen(staging.flush, staging.flush))
  return { batches, before }
}

const short = (count: number) => Array.from({ length: count }, () => 10)

it("StageBatches stages rows in order, numbered without gaps, five hundred at a time", () => {
  const { batches, before } = staged([short(300), short(0), short(899)])
  assert.deepStrictEqual(
    batches.map((rows) => rows.length),
    [500, 500, 199],
  )
  assert.strictEqual(before, 2)
  assert.deepStrictEqual(
    batches.flat().map(({ n }) => n),
    Array.from({ length: 1_199 }, (_, n) => n),
  )
})

it("StageBatches stages long rows sooner: a statement has at most 250,000 characters and one row", () => {
  const { batches } = staged([[100_000, 149_999, 1, 10, 300_000, 5, 0]])
  assert.deepStrictEqual(
    batches.map((rows) => rows.map(({ payload }) => payload.length)),
    [
      [100_000, 149_999, 1],
      [10, 300_000],
      [5, 0],
    ],
  )
  assert.deepStrictEqual(
    batches.at(-1)!.map(({ empty }) => empty),
    [false, true],
  )
})

it("StageBatches stages nothing when there are no rows", () => {
  assert.deepStrictEqual(staged([[], []]).batches, [])
  assert.lengthOf(staged([short(500)]).batches, 1)
})
