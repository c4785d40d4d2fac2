import type { SentBytes } from "@data-cabinet/core/row/SentBytes"
import { rowsWithin, SentRow } from "@data-cabinet/core/row/SentRow"
import { INT64, TEXT } from "@data-cabinet/core/row/SentValue"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const row = new SentRow([
  { name: "id", sql: "t.id", form: INT64 },
  { name: 'a "note"', sql: "t.note", form: TEXT },
])

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

const sentRow = (id: bigint, note: string | null): SentBytes =>
  sent([bigint(id), note === null ? null : Buffer.from(note)])

describe("SentRow", () => {
  it("is a row in SQL, and knows how long its keys are", () => {
    assert.strictEqual(row.sql, "ROW(t.id, t.note)")
    assert.strictEqual(row.keyBytes, '{"id":,"a \\"note\\"":}'.length)
  })

  it.prop(
    "writes rows as JSON.stringify would, however many and however long",
    [Schema.Array(Schema.NullOr(Schema.String))],
    ([notes]) => {
      const given = [...notes, "\u0001".repeat(10_000), "end"].map((note) => note?.toWellFormed() ?? null)
      const rows = given.map((note, id) => ({ id, 'a "note"': note }))
      const items = row.items(rows.map(({ id, 'a "note"': note }) => sentRow(BigInt(id), note)))
      assert.deepStrictEqual(
        items.texts(),
        rows.map((one) => JSON.stringify(one)),
      )
    },
    { arbitrary: { runs: 200 } },
  )

  it("escapes what may not stand in JSON wherever it stands, and nothing else", () => {
    const signs = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), "é", "\u2028", "😀"]
    const notes = signs.flatMap((sign) =>
      Array.from({ length: 9 }, (_, at) => "x".repeat(at) + sign + "~".repeat(8 - at)),
    )
    assert.deepStrictEqual(
      row.items(notes.map((note) => sentRow(1n, note))).texts(),
      notes.map((note) => JSON.stringify({ id: 1, 'a "note"': note })),
    )
  })

  it("reads rows one behind the other in one piece", () => {
    const rows = [sentRow(1n, "a"), sentRow(2n, null)]
    const bytes = Buffer.concat(rows.map(({ bytes: all, start, end }) => all.subarray(start, end)))
    const expected = ['{"id":1,"a \\"note\\"":"a"}', '{"id":2,"a \\"note\\"":null}']
    assert.deepStrictEqual(row.items([{ bytes, start: 0, end: bytes.length }]).texts(), expected)
    assert.deepStrictEqual(row.items(rowsWithin(sent([bytes]))).texts(), expected)
    assert.deepStrictEqual(row.items(rowsWithin(sent([null]))).texts(), [])
  })
})
