import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { type EncodedEvent, eventsToJson, placeOf } from "@data-cabinet/store-pg/feed/EventsToJson"
import { AHEAD, BEHIND } from "@data-cabinet/core/pagination/Items"
import type { RecordBytes } from "@data-cabinet/store-pg/row/RecordBytes"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const Whole = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))
const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Date.UTC(9999, 11, 31) }))

const Event = Schema.Struct({
  id: Whole(Number.MAX_SAFE_INTEGER),
  source: Whole(2),
  channel: Whole(CHANNELS.length - 1),
  receivedAt: Millis,
  payload: Schema.Record(Schema.String, Schema.String),
  repeatOf: Schema.NullOr(Whole(Number.MAX_SAFE_INTEGER)),
  history: Schema.Boolean,
  deletedAt: Schema.NullOr(Millis),
})

/** In the midst of other bytes. */
const lying = (bytes: Uint8Array): RecordBytes => ({
  bytes: Buffer.concat([Buffer.from("other"), bytes, Buffer.from("bytes")]),
  start: 5,
  end: 5 + bytes.length,
})

/** A record of one moment: how many values, the type, the size, microseconds since 2000. */
const moment = (millis: number): RecordBytes => {
  const record = Buffer.alloc(20)
  record.writeInt32BE(1)
  record.writeInt32BE(1184, 4)
  record.writeInt32BE(8, 8)
  record.writeBigInt64BE(BigInt(millis - Date.UTC(2000)) * 1000n, 12)
  return lying(record)
}

const shortest = (millis: number) => new Date(millis).toISOString().replace(/\.?0*Z$/, "Z")

const LONG = "long ".repeat(5_000)

it.prop(
  "eventsToJson writes each event as JSON.stringify would, wherever its parts lie",
  [Schema.Array(Event), Schema.Array(Schema.String), Schema.Boolean],
  ([events, given, long]) => {
    const names = new Map(
      [0, 1, 2].map((id) => [id, `${given[id]?.toWellFormed() ?? "n"}${long ? LONG : ""}`] as const),
    )
    const texts = events.map(({ payload }) => JSON.stringify(payload).toWellFormed())
    const sent = events.map((event, index): EncodedEvent => [
      lying(Buffer.from(texts[index]!)),
      1n,
      1n,
      BigInt(event.id),
      event.source,
      event.channel,
      moment(event.receivedAt),
      event.repeatOf,
      event.history,
      event.deletedAt === null ? null : moment(event.deletedAt),
    ])
    const items = eventsToJson(sent, names)
    const expected = events.map((event, index) => {
      const { id, repeatOf, history } = event
      const source = { id: event.source, name: names.get(event.source) }
      const head = { id, source, channel: CHANNELS[event.channel], received_at: shortest(event.receivedAt) }
      const tail = {
        repeat_of: repeatOf,
        history,
        deleted_at: event.deletedAt === null ? null : shortest(event.deletedAt),
      }
      return `${JSON.stringify(head).slice(0, -1)},"payload":${texts[index]},${JSON.stringify(tail).slice(1)}`
    })
    assert.deepStrictEqual(items.texts(), expected)
    const [head, end] = ["h".repeat(AHEAD), "e".repeat(BEHIND)]
    assert.strictEqual(
      Buffer.from(items.between(Buffer.from(head), Buffer.from(end))).toString(),
      `${head}${expected.join()}${end}`,
    )
  },
)

it("eventsToJson has room for events that are nothing but envelope", () => {
  const last = moment(Date.UTC(9999, 11, 31, 23, 59, 59, 999))
  const id = Number.MAX_SAFE_INTEGER
  const event: EncodedEvent = [lying(Buffer.from("0")), 1n, 1n, BigInt(id), id, 0, last, id, false, last]
  const items = eventsToJson(
    Array.from({ length: 1_000 }, () => event),
    new Map([[id, ""]]),
  )
  const text =
    `{"id":${id},"source":{"id":${id},"name":""},"channel":"webhook","received_at":"9999-12-31T23:59:59.999Z",` +
    `"payload":0,"repeat_of":${id},"history":false,"deleted_at":"9999-12-31T23:59:59.999Z"}`
  assert.deepStrictEqual(
    items.texts(),
    Array.from({ length: 1_000 }, () => text),
  )
})

it("placeOf reads the place of an event from what was sent of it", () => {
  const event: EncodedEvent = [
    lying(Buffer.from("0")),
    2n,
    2n ** 40n,
    7n,
    1,
    0,
    moment(Date.UTC(2000) + 5),
    null,
    false,
    null,
  ]
  assert.deepStrictEqual(placeOf(event), { epoch: 2, xid: 2n ** 40n, id: 7, receivedAt: 5_000n })
})
