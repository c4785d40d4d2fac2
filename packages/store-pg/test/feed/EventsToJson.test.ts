import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { AHEAD, BEHIND } from "@data-cabinet/core/pagination/Items"
import { type FrameConsumer, FrameReader } from "@data-cabinet/store-pg/connection/FrameReader"
import { PageBuffers } from "@data-cabinet/store-pg/feed/PageBuffers"
import { EventsToJson } from "@data-cabinet/store-pg/feed/EventsToJson"
import { SourceNames } from "@data-cabinet/store-pg/feed/SourceNames"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { messageOf, type SentEvent } from "./sentEvent.ts"

const Whole = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))
const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Date.UTC(9999, 11, 31) }))

const Event = Schema.Struct({
  id: Whole(Number.MAX_SAFE_INTEGER),
  source: Whole(2),
  channel: Whole(CHANNELS.length - 1),
  receivedAt: Millis,
  payload: Schema.Record(Schema.String, Schema.String),
  repeatOf: Schema.NullOr(Whole(Number.MAX_SAFE_INTEGER)),
  marks: Schema.Literals([0, 1, 2, 4, 5, 6]),
  history: Schema.Boolean,
  deletedAt: Schema.NullOr(Millis),
})

const namesOf = (names: ReadonlyMap<number, string>): SourceNames => {
  const known = new SourceNames()
  known.learn([...names])
  return known
}

/** Surrounded by other bytes. */
const add = (events: EventsToJson, sent: SentEvent) => {
  const message = messageOf(sent)
  const bytes = Buffer.concat([Buffer.from("other"), message, Buffer.from("bytes")])
  return events.add(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 5, 5 + message.length)
}

const written = (sent: ReadonlyArray<SentEvent>, names: SourceNames, limit = Math.max(1, sent.length)) => {
  const events = new EventsToJson(limit, names, new PageBuffers(1))
  for (const one of sent) assert.strictEqual(add(events, one), "more")
  return events
}

const shortest = (millis: number) => new Date(millis).toISOString().replace(/\.?0*Z$/, "Z")
const micros = (millis: number) => BigInt(millis - Date.UTC(2000)) * 1000n

const LONG = "long ".repeat(5_000)

it.prop(
  "EventsToJson writes each event as JSON.stringify would, wherever it is in the buffer",
  [Schema.Array(Event), Schema.Array(Schema.String), Schema.Boolean],
  ([events, given, long]) => {
    const names = new Map(
      [0, 1, 2].map((id) => [id, `${given[id]?.toWellFormed() ?? "n"}${long ? LONG : ""}`] as const),
    )
    const texts = events.map(({ payload }) => JSON.stringify(payload).toWellFormed())
    const page = written(
      events.map((event, index) => ({
        ...event,
        epoch: 1,
        xid: 1n,
        payload: texts[index]!,
        receivedAt: micros(event.receivedAt),
        deletedAt: event.deletedAt === null ? null : micros(event.deletedAt),
      })),
      namesOf(names),
    )
    const expected = events.map((event, index) => {
      const { id, repeatOf, history } = event
      const source = { id: event.source, name: names.get(event.source) }
      const head = { id, source, channel: CHANNELS[event.channel], received_at: shortest(event.receivedAt) }
      const tail = {
        repeat_of: repeatOf,
        history,
        deleted_at: event.deletedAt === null ? null : shortest(event.deletedAt),
        ...(event.marks % 4 === 2 ? {} : { verified: event.marks % 4 === 1 }),
        ...(event.marks < 4 ? {} : { spam: true }),
      }
      return `${JSON.stringify(head).slice(0, -1)},"payload":${texts[index]},${JSON.stringify(tail).slice(1)}`
    })
    const items = page.items()
    assert.deepStrictEqual(items.texts(), expected)
    const [head, end] = ["h".repeat(AHEAD), "e".repeat(BEHIND)]
    const bytes = items.between(Buffer.from(head), Buffer.from(end))
    assert.strictEqual(Buffer.from(bytes).toString(), `${head}${expected.join()}${end}`)
    assert.strictEqual(items.length === 0, bytes.length === AHEAD + BEHIND)
  },
)

const LAST = micros(Date.UTC(9999, 11, 31, 23, 59, 59, 999))

const longest: SentEvent = {
  epoch: 1,
  xid: 1n,
  id: Number.MAX_SAFE_INTEGER,
  source: Number.MAX_SAFE_INTEGER,
  receivedAt: LAST,
  channel: 0,
  marks: 4,
  history: false,
  repeatOf: Number.MAX_SAFE_INTEGER,
  deletedAt: LAST,
  payload: "0",
}

it("EventsToJson has enough room for events that are all envelope", () => {
  const id = Number.MAX_SAFE_INTEGER
  const page = written(
    Array.from({ length: 1_000 }, () => longest),
    namesOf(new Map([[id, ""]])),
  )
  const text =
    `{"id":${id},"source":{"id":${id},"name":""},"channel":"webhook","received_at":"9999-12-31T23:59:59.999Z",` +
    `"payload":0,"repeat_of":${id},"history":false,"deleted_at":"9999-12-31T23:59:59.999Z","verified":false,"spam":true}`
  assert.deepStrictEqual(
    page.items().texts(),
    Array.from({ length: 1_000 }, () => text),
  )
})

const event = { ...longest, id: 1, source: 1, repeatOf: null, deletedAt: null }
const names = namesOf(new Map([[1, "one"]]))

it("EventsToJson returns the position of each event, for any size of its parts", () => {
  const page = written(
    [
      { ...event, epoch: 2, xid: 2n ** 40n, id: 7, receivedAt: 5_000n },
      { ...event, epoch: 3, xid: 2n ** 63n - 1n, id: Number.MAX_SAFE_INTEGER, receivedAt: -(2n ** 62n) },
    ],
    names,
  )
  assert.deepStrictEqual(
    [page.placeAt(0), page.placeAt(1)],
    [
      { epoch: 2, xid: 2n ** 40n, id: 7, receivedAt: 5_000n },
      { epoch: 3, xid: 2n ** 63n - 1n, id: Number.MAX_SAFE_INTEGER, receivedAt: -(2n ** 62n) },
    ],
  )
})

it("EventsToJson writes as many events as requested, and reports whether there are more", () => {
  const page = written([event, { ...event, id: 2 }], names, 2)
  assert.isFalse(page.hasMore)
  assert.strictEqual(add(page, { ...event, id: 3 }), "more")
  assert.deepStrictEqual([page.items().length, page.hasMore, page.isWhole], [2, true, true])
  page.reset()
  assert.deepStrictEqual([page.items().length, page.hasMore, page.sources.length], [0, false, 0])
})

it("EventsToJson ends a page before the first event that was sent without its payload", () => {
  const page = written([event, { ...event, payload: null }, event], names)
  assert.deepStrictEqual([page.items().length, page.hasMore, page.isWhole], [1, true, false])
})

it("EventsToJson returns no partial page when a name is unknown", () => {
  const page = written([event, { ...event, source: 2 }, event, { ...event, source: 3 }], names)
  assert.deepStrictEqual(page.sources, [1, 2, 3])
  assert.isFalse(page.isNamedAs([]))
  assert.strictEqual(page.items().length, 1)
})

it("EventsToJson writes one name per source throughout, and detects a name that another page learned meanwhile", () => {
  const known = new SourceNames()
  known.learn([[1, "one"]])
  const page = new EventsToJson(10, known, new PageBuffers())
  add(page, event)
  // While this page is read, another one learns a new name and a source that this page had no name for.
  known.learn([
    [1, "uno"],
    [2, "two"],
  ])
  add(page, { ...event, id: 2, source: 2 })
  add(page, { ...event, id: 3 })
  assert.isTrue(
    page.isNamedAs([
      [1, "one"],
      [2, "two"],
    ]),
  )
  assert.isFalse(
    page.isNamedAs([
      [1, "uno"],
      [2, "two"],
    ]),
  )
  const sent = page.items().texts()
  assert.include(sent[0]!, '"name":"one"')
  assert.include(sent[2]!, '"name":"one"')

  const early = new EventsToJson(10, new SourceNames(), new PageBuffers())
  add(early, event)
  assert.isFalse(early.isNamedAs([[1, "one"]]))
})

it("SourceNames keeps only the latest names, as many as pages can need", () => {
  const known = new SourceNames()
  known.learn([[1, "one"]])
  known.learn([[1, "uno"]])
  assert.strictEqual(known.get(1)?.name, "uno")
  const before = known.get(1)
  known.learn([[1, "uno"]])
  assert.strictEqual(known.get(1), before)
  for (let id = 3; id < 6_000; id += 1_000) {
    known.learn(Array.from({ length: 1_000 }, (_, n) => [id + n, "name"] as const))
    assert.strictEqual(known.get(id + 999)?.name, "name")
  }
  assert.isUndefined(known.get(1))
})

it("EventsToJson refuses anything that is not an event, truncated or changed at any byte, and reads nothing beyond it", () => {
  for (const sent of [event, longest, { ...longest, history: true }, { ...event, payload: null }]) {
    const message = messageOf(sent)
    const fresh = () => new EventsToJson(1, namesOf(new Map([[sent.source, "s"]])), new PageBuffers(1))
    const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let end = 0; end < message.length; end++) {
      const cut = Buffer.from(new Uint8Array(message.subarray(0, end)))
      assert.strictEqual(fresh().add(view(cut), 0, end), "malformed", `cut at ${end}`)
    }
    for (let at = 0; at < message.length; at++) {
      for (const byte of [0, 1, 4, 8, 9, 0x7f, 0x80, 0xff]) {
        const other = Buffer.from(new Uint8Array(message))
        other[at] = byte
        assert.include(["more", "malformed"], fresh().add(view(other), 0, other.length))
      }
    }
  }
})

it("EventsToJson writes the same page, wherever the packets of its messages are cut", () => {
  const sent = [
    event,
    longest,
    { ...longest, history: true },
    { ...event, payload: JSON.stringify("long ".repeat(20)) },
  ]
  const known = namesOf(new Map(sent.map(({ source }) => [source, "s"])))
  const expected = written(sent, known).items().texts()
  const stream = Buffer.concat(
    sent.map(messageOf).flatMap((body) => {
      const head = Buffer.from("D\0\0\0\0")
      head.writeInt32BE(body.length + 4, 1)
      return [head, body]
    }),
  )
  const read = (chunks: ReadonlyArray<Buffer>) => {
    const page = new EventsToJson(sent.length, known, new PageBuffers(1))
    const consumer: FrameConsumer = {
      mostBytes: () => page.mostBytes,
      read: (_type, bytes, start, end) => page.add(bytes, start, end) === "more",
      skipped: () => assert.fail(),
    }
    const frames = new FrameReader()
    for (const chunk of chunks) assert.strictEqual(frames.push(chunk, consumer), chunk.length)
    return page.items().texts()
  }
  for (let cut = 0; cut <= stream.length; cut++) {
    assert.deepStrictEqual(read([stream.subarray(0, cut), stream.subarray(cut)]), expected, `cut at ${cut}`)
  }
  assert.deepStrictEqual(read(Array.from(stream, (byte) => Buffer.from([byte]))), expected)
})

it("EventsToJson writes the same page into the buffer of another, once that is released, and never before", () => {
  const known = namesOf(new Map([[event.source, "one"]]))
  const buffers = new PageBuffers()
  const pageOf = (ids: ReadonlyArray<number>) => {
    const page = new EventsToJson(ids.length, known, buffers)
    for (const id of ids) add(page, { ...event, id, payload: "1" })
    return { page, items: page.items() }
  }
  const bytesOf = ({ items }: ReturnType<typeof pageOf>) => items.between(Buffer.from("["), Buffer.from("]"))
  const first = pageOf([1, 2, 3])
  const text = String(bytesOf(first))
  const second = pageOf([4, 5, 6])
  assert.isFalse(bytesOf(second).buffer === bytesOf(first).buffer)
  assert.strictEqual(String(bytesOf(first)), text)
  const released = bytesOf(first).buffer
  first.items.release()
  // Only once, although it may be released twice.
  first.items.release()
  const third = pageOf([1, 2, 3])
  assert.isTrue(bytesOf(third).buffer === released)
  assert.strictEqual(String(bytesOf(third)), text)
  assert.deepStrictEqual(
    [0, 1, 2].map((index) => third.page.placeAt(index).id),
    [1, 2, 3],
  )
  assert.isFalse(bytesOf(pageOf([1])).buffer === released)
})

it("PageBuffers keeps a few buffers, none of them very long, and gives out none that is too short", () => {
  const buffers = new PageBuffers(1)
  const given = Array.from({ length: 5 }, () => buffers.take(0, 100))
  for (const buffer of given) buffers.give(buffer)
  assert.strictEqual(buffers.take(0, 101).length, 101)
  assert.deepStrictEqual(
    Array.from({ length: 5 }, () => given.indexOf(buffers.take(0, 100))),
    [1, 2, 3, 4, -1],
  )
  buffers.give(Buffer.alloc(2_000_000))
  assert.isBelow(buffers.take(0, 100).length, 2_000_000)
})
