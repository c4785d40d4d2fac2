/**
 * Writes the events of a page as JSON from the messages in which PostgreSQL sends them, as each arrives. The text is
 * exactly that of a delivery, which `cabinet.event_json` builds.
 *
 * The columns of an event before its payload have a fixed size, except two values that are usually missing. The name of
 * its source is not sent with it: it is known before, or the page is read again.
 *
 * Decision: docs/decisions/0047-feed-pages-from-the-messages.md
 */
import { PgProtocol } from "@effect/sql-pg"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { AHEAD, BEHIND, COMMA, Items } from "@data-cabinet/core/pagination/Items"
import type { Added, RowSink } from "../connection/PageStatement.ts"
import { copyBytes, type JsonFragment } from "../row/JsonWriter.ts"
import { int64At, viewOf } from "../row/ValueToJson.ts"
import { ENVELOPE, startEvent } from "./EventJson.ts"
import type { PageBuffers } from "./PageBuffers.ts"
import type { KnownSource, NameRow, SourceNames, SourceOrigins } from "./SourceNames.ts"
import { payloadIn, writeRest } from "./EventTail.ts"
import { CHANNEL, EPOCH, ID, RECEIVED_AT, SOURCE, XID } from "./EventColumns.ts"

/** An event's place, as it was sent: epoch, transaction id, id, time of receipt. */
const PLACE_BYTES = 32

export class EventsToJson implements RowSink {
  /** As many as the driver accepts. */
  readonly mostBytes = PgProtocol.defaultMaxMessageSize
  readonly #limit: number
  readonly #names: SourceNames
  readonly #buffers: PageBuffers
  #bytes: Buffer
  #to: DataView
  /** The events are written behind their places, and room for the beginning of the page. */
  readonly #from: number
  #at: number
  #ends: Array<number> = []
  /** How many events were sent. */
  #sent = 0
  #isWhole = true
  /** The sources of all events, with the names that they are written with, and whether each had one. */
  readonly #sources = new Map<number, KnownSource | undefined>()
  #isNamed = true
  /** The source of the last event. */
  #source = -1
  #origins: SourceOrigins | undefined

  /** For a page of `limit` events, written with these names into one of the buffers. */
  constructor(limit: number, names: SourceNames, buffers: PageBuffers) {
    this.#limit = limit
    this.#names = names
    this.#from = limit * PLACE_BYTES + AHEAD
    this.#at = this.#from
    this.#buffers = buffers
    this.#bytes = buffers.take(limit, this.#from + ENVELOPE + BEHIND)
    this.#to = viewOf(this.#bytes)
  }

  reset(): void {
    this.#at = this.#from
    this.#ends = []
    this.#sent = 0
    this.#isWhole = true
    this.#sources.clear()
    this.#isNamed = true
    this.#source = -1
  }

  /** Its statement ends on its own. */
  room(): number {
    return this.#limit
  }

  skipped(): Added {
    throw new Error("An event is longer than PostgreSQL's messages may be")
  }

  add(sent: DataView, start: number, end: number): Added {
    if (this.#sent++ >= this.#limit || !this.#isWhole) return "more"
    const payload = payloadIn(sent, start, end)
    if (payload < 0) return "malformed"
    if (payload > end) this.#isWhole = false
    else {
      const origin = this.#originOf(int64At(sent, start + SOURCE), sent.getInt32(start + CHANNEL))
      if (origin !== undefined) this.#write(origin, sent, start, payload, end)
    }
    return "more"
  }

  /** How many events were written. */
  get length(): number {
    return this.#ends.length
  }

  /** Whether more events were sent than were written. */
  get hasMore(): boolean {
    return this.#sent > this.#ends.length
  }

  /** False if an event of this page was sent without its payload. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Whether every event is written, and its source has the name that it is written with. */
  isNamedAs(rows: ReadonlyArray<NameRow>): boolean {
    return this.#isNamed && rows.every(([id, name]) => this.#sources.get(id)?.name === name)
  }

  /** The sources of the events. */
  get sources(): ReadonlyArray<number> {
    return [...this.#sources.keys()]
  }

  /** The events, with room around them for the rest of a page. */
  items(): Items {
    return new Items(this.#bytes, this.#from, this.#ends, this.#buffers.give)
  }

  /** The place of an event, counted from 0. */
  placeAt(index: number): FeedPlace {
    const at = index * PLACE_BYTES
    return {
      epoch: int64At(this.#to, at),
      xid: this.#to.getBigInt64(at + 8),
      id: int64At(this.#to, at + 16),
      receivedAt: this.#to.getBigInt64(at + 24),
    }
  }

  #write(origin: JsonFragment, sent: DataView, start: number, payload: number, end: number): void {
    const ends = this.#ends
    this.#makeRoom(origin.length + end - payload + ENVELOPE)
    const to = this.#to
    let at = this.#at
    if (ends.length > 0) to.setUint8(at++, COMMA)
    at = startEvent(to, at, int64At(sent, start + ID), origin, sent, start + RECEIVED_AT)
    at = copyBytes(to, at, sent, payload, end - payload)
    at = writeRest(to, at, sent, start)
    this.#keepPlace(sent, start, ends.length * PLACE_BYTES)
    this.#at = at
    ends.push(at)
    if (ends.length === this.#limit) this.#buffers.eventBytes = Math.ceil((at - this.#from) / ends.length)
  }

  /**
   * Undefined once a name is unknown: the page is read again, and the remaining rows only show which names it needs.
   */
  #originOf(source: number, channel: number): JsonFragment | undefined {
    if (source !== this.#source) {
      this.#source = source
      // With one name throughout, even if another is learned meanwhile.
      const known = this.#sources.get(source) ?? this.#names.get(source)
      this.#sources.set(source, known)
      this.#origins = known?.origins
      this.#isNamed &&= this.#origins !== undefined
    }
    return this.#isNamed ? this.#origins?.[channel] : undefined
  }

  /** By 32-bit words, for data that is aligned in neither buffer. */
  #keepPlace(sent: DataView, start: number, at: number): void {
    const places = this.#to
    for (let word = 0; word < 8; word += 4) {
      places.setInt32(at + word, sent.getInt32(start + EPOCH + word))
      places.setInt32(at + 8 + word, sent.getInt32(start + XID + word))
      places.setInt32(at + 16 + word, sent.getInt32(start + ID + word))
      places.setInt32(at + 24 + word, sent.getInt32(start + RECEIVED_AT + word))
    }
  }

  #makeRoom(bytes: number): void {
    if (this.#bytes.length - this.#at >= bytes + BEHIND) return
    const longer = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes + BEHIND))
    this.#bytes.copy(longer, 0, 0, this.#at)
    this.#bytes = longer
    this.#to = viewOf(longer)
  }
}
