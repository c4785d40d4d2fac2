import { byHidden, hiddenAt, rowsWithin, type SentBytes, SentRow } from "@data-cabinet/core/row/SentRow"
import { INT64, TEXT } from "@data-cabinet/core/row/SentValue"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const row = new SentRow(
  [
    { name: "id", sql: "t.id", form: INT64 },
    { name: 'a "note"', sql: "t.note", form: TEXT },
  ],
  ["t.place", "t.id"],
)

const bigint = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

/** What `record_send` makes of these values, in the midst of other bytes. */
const sent = (values: ReadonlyArray<Buffer | null>): SentBytes => {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  }
  const parts = values.flatMap((value) => [number(20), number(value?.length ?? -1), value ?? Buffer.alloc(0)])
  const bytes = Buffer.concat([Buffer.from("other"), number(values.length), ...parts, Buffer.from("bytes")])
  return { bytes, start: 5, end: bytes.length - 5 }
}

const event = (place: bigint, id: bigint, note: string | null): SentBytes =>
  sent([bigint(place), bigint(id), bigint(id), note === null ? null : Buffer.from(note)])

describe("SentRow", () => {
  it("is a row of what is hidden and what is shown", () => {
    assert.strictEqual(row.sql, "ROW(t.place, t.id, t.id, t.note)")
    assert.strictEqual(row.keyBytes, '{"id":,"a \\"note\\"":}'.length)
  })

  it.prop(
    "writes rows as JSON.stringify would, however many and however long",
    [Schema.Array(Schema.NullOr(Schema.String))],
    ([notes]) => {
      const given = [...notes, "\u0001".repeat(10_000), "end"].map((note) => note?.toWellFormed() ?? null)
      const rows = given.map((note, id) => ({ id, 'a "note"': note }))
      const items = row.items(rows.map(({ id, 'a "note"': note }) => event(7n, BigInt(id), note)))
      assert.deepStrictEqual(
        items.texts(),
        rows.map((one) => JSON.stringify(one)),
      )
    },
    { arbitrary: { runs: 200 } },
  )

  it("reads rows one behind the other in one piece", () => {
    const rows = [event(1n, 1n, "a"), event(1n, 2n, null)]
    const bytes = Buffer.concat(rows.map(({ bytes: all, start, end }) => all.subarray(start, end)))
    const expected = ['{"id":1,"a \\"note\\"":"a"}', '{"id":2,"a \\"note\\"":null}']
    assert.deepStrictEqual(row.items([{ bytes, start: 0, end: bytes.length }]).texts(), expected)
    assert.deepStrictEqual(row.items(rowsWithin(sent([bytes]))).texts(), expected)
    assert.deepStrictEqual(row.items(rowsWithin(sent([null]))).texts(), [])
  })
})

const Natural = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 63n - 1n }))

it.prop(
  "byHidden orders rows by their hidden numbers, the first before the second",
  [Schema.Array(Schema.Tuple([Natural, Natural]))],
  ([places]) => {
    const compare = ([a, b]: readonly [bigint, bigint], [c, d]: readonly [bigint, bigint]) =>
      a < c ? -1 : a > c ? 1 : b < d ? -1 : b > d ? 1 : 0
    const sorted = places.map(([place, id]) => event(place, id, "")).sort(byHidden(2))
    assert.deepStrictEqual(
      sorted.map((one) => [hiddenAt(one, 0), hiddenAt(one, 1)]),
      [...places].sort(compare).map(([place, id]) => [place, id]),
    )
  },
)
