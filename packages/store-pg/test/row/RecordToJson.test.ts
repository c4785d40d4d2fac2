import { TIMESTAMPTZ } from "@data-cabinet/store-pg/row/TimestampToJson"
import { rowsWithin, RecordToJson, encodedText } from "@data-cabinet/store-pg/row/RecordToJson"
import { INT64, NUMERIC, TEXT } from "@data-cabinet/store-pg/row/ValueToJson"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { RecordBytes } from "@data-cabinet/store-pg/connection/RawTypes"

const row = new RecordToJson([
  { name: "id", sql: "t.id", oid: 20, form: INT64 },
  { name: 'a "note"', sql: "t.note", oid: 25, form: TEXT },
])

const bigint = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

/** The output of `record_send` for these values, surrounded by other bytes. */
const sent = (values: ReadonlyArray<Buffer | null>): RecordBytes => {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  }
  const parts = values.flatMap((value) => [number(20), number(value?.length ?? -1), value ?? Buffer.alloc(0)])
  const bytes = Buffer.concat([Buffer.from("other"), number(values.length), ...parts, Buffer.from("bytes")])
  return { bytes, start: 5, end: bytes.length - 5 }
}

/** The rows one after the other, surrounded by other bytes. */
const concatenated = (rows: ReadonlyArray<RecordBytes>): RecordBytes => {
  const bytes = Buffer.concat([
    Buffer.from("other"),
    ...rows.map(({ bytes: all, start, end }) => all.subarray(start, end)),
    Buffer.from("bytes"),
  ])
  return { bytes, start: 5, end: bytes.length - 5 }
}

const sentRow = (id: bigint, note: string | null): RecordBytes =>
  sent([bigint(id), note === null ? null : Buffer.from(note)])

describe("RecordToJson", () => {
  it("is an SQL expression of the values, and knows the length of its keys", () => {
    assert.deepStrictEqual(row.values, ["t.id", "t.note"])
    assert.strictEqual(row.keyBytes, '{"id":,"a \\"note\\"":}'.length)
  })

  it.prop(
    "writes rows as JSON.stringify would, however many and however long",
    [Schema.Array(Schema.NullOr(Schema.String))],
    ([notes]) => {
      const given = [...notes, "\u0001".repeat(10_000), "end"].map((note) => note?.toWellFormed() ?? null)
      const rows = given.map((note, id) => ({ id, 'a "note"': note }))
      const { items } = row.read(concatenated(rows.map(({ id, 'a "note"': note }) => sentRow(BigInt(id), note))))
      assert.deepStrictEqual(
        items.texts(),
        rows.map((one) => JSON.stringify(one)),
      )
    },
    { arbitrary: { runs: 200 } },
  )

  it("escapes exactly what JSON does not allow, in any position", () => {
    const signs = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), "é", "\u2028", "😀"]
    const notes = signs.flatMap((sign) =>
      Array.from({ length: 9 }, (_, at) => "x".repeat(at) + sign + "~".repeat(8 - at)),
    )
    assert.deepStrictEqual(
      row.read(concatenated(notes.map((note) => sentRow(1n, note)))).items.texts(),
      notes.map((note) => JSON.stringify({ id: 1, 'a "note"': note })),
    )
  })

  it("reads the rows of one record, and none when it is NULL", () => {
    const { bytes, start, end } = concatenated([sentRow(1n, "a"), sentRow(2n, null)])
    const texts = (value: Buffer | null) => row.read(rowsWithin(sent([value]))).items.texts()
    assert.deepStrictEqual(texts(Buffer.from(bytes.subarray(start, end))), [
      '{"id":1,"a \\"note\\"":"a"}',
      '{"id":2,"a \\"note\\"":null}',
    ])
    assert.deepStrictEqual(texts(null), [])
  })

  it.prop(
    "skips bytes after a row's values, and finds each value of each row",
    [Schema.Array(Schema.Tuple([Schema.NullOr(Schema.String), Schema.NullOr(Schema.BigInt)]))],
    ([given]) => {
      const rows = given.map(([note, id]) => ({
        note: note?.toWellFormed() ?? null,
        id: id === null ? null : BigInt.asIntN(64, id),
      }))
      const read = row.read(
        concatenated(
          rows.map(({ note, id }, index) =>
            sent([
              bigint(BigInt(index)),
              note === null ? null : Buffer.from(note),
              id === null ? null : bigint(id),
              Buffer.from(`behind ${index}`),
            ]),
          ),
        ),
      )
      assert.deepStrictEqual(
        read.items.texts(),
        rows.map(({ note }, id) => JSON.stringify({ id, 'a "note"': note })),
      )
      for (const [index, { note, id }] of rows.entries()) {
        assert.strictEqual(encodedText(read, index, 0, INT64), String(index))
        assert.strictEqual(encodedText(read, index, 1, TEXT), note)
        assert.strictEqual(encodedText(read, index, 2, INT64), id === null ? null : String(id))
        assert.strictEqual(encodedText(read, index, 3, TEXT), `behind ${index}`)
      }
    },
    { arbitrary: { runs: 200 } },
  )

  it("finds a number's text even if it is much longer than its binary form", () => {
    // The wire format of numeric: one base-10,000 digit, the 75th before the point.
    const number = Buffer.from([0, 1, 0, 75, 0, 0, 0, 0, 0, 7])
    const read = row.read(concatenated([sent([bigint(0n), null, number])]))
    assert.strictEqual(encodedText(read, 0, 2, NUMERIC), `7${"0".repeat(300)}`)
  })

  it("finds a timestamp's text without quotes, a text's with its own", () => {
    const read = row.read(concatenated([sent([bigint(0n), Buffer.from('"a"'), bigint(1n)])]))
    assert.strictEqual(encodedText(read, 0, 1, TEXT), '"a"')
    assert.strictEqual(encodedText(read, 0, 2, TIMESTAMPTZ), "2000-01-01T00:00:00.000001Z")
  })
})
