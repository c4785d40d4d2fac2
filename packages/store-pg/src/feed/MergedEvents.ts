/**
 * Merges the events of files into a page of rows, in the order of the feed. A row counts before its copy. An event of a file is
 * given to the same writer as rows are, in the form in which PostgreSQL sends them, so its text cannot differ.
 */
import type { ColdEvent } from "@data-cabinet/core/cold/ColdFiles"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import type { Added, RowSink } from "../connection/PageStatement.ts"
import { COLUMNS, EPOCH, ID, NOT_ASKED, SPAM, VALUE_HEAD, XID } from "./EventColumns.ts"
import type { EventsToJson } from "./EventsToJson.ts"
import { payloadIn } from "./EventTail.ts"
import { int64At, viewOf } from "../row/ValueToJson.ts"

/** The bytes of a row besides its payload: at most eleven values with their sizes. */
const MOST_BYTES = 160

/** An event as PostgreSQL sends its row, and where the row ends. */
const rowOf = (event: ColdEvent): Buffer => {
  const row = Buffer.allocUnsafe(MOST_BYTES + Buffer.byteLength(event.payload))
  let at = row.writeInt16BE(COLUMNS)
  const long = (value: bigint | null) => {
    at = row.writeInt32BE(value === null ? -1 : 8, at)
    if (value !== null) at = row.writeBigInt64BE(value, at)
  }
  const int = (value: number) => {
    at = row.writeInt32BE(value, row.writeInt32BE(4, at))
  }
  const { epoch, xid, id, sourceId, receivedAt, channel, history, repeatOf, deletedAt, verified, spam, payload } = event
  for (const value of [BigInt(epoch), xid, BigInt(id), BigInt(sourceId), receivedAt]) long(value)
  int(CHANNELS.indexOf(channel))
  int((spam === null ? 0 : SPAM) + (verified === null ? NOT_ASKED : Number(verified)))
  at = row.writeInt8(history ? 1 : 0, row.writeInt32BE(1, at))
  long(repeatOf === null ? null : BigInt(repeatOf))
  long(deletedAt)
  const head = at
  at += VALUE_HEAD
  const size = row.write(payload, at)
  row.writeInt32BE(size, head)
  return row.subarray(0, at + size)
}

export class MergedEvents implements RowSink {
  readonly mostBytes: number
  readonly #events: EventsToJson
  readonly #cold: ReadonlyArray<ColdEvent>
  readonly #upTo: FeedPlace | null
  #next = 0
  #bytes = 0
  #isCut = false

  /** Rows after `upTo` are left to a later page; null for none. */
  constructor(events: EventsToJson, cold: ReadonlyArray<ColdEvent>, upTo: FeedPlace | null) {
    this.mostBytes = events.mostBytes
    this.#events = events
    this.#cold = cold
    this.#upTo = upTo
  }

  reset(): void {
    this.#events.reset()
    this.#next = 0
    this.#bytes = 0
    this.#isCut = false
  }

  room(): number {
    return this.#events.room()
  }

  skipped(): Added {
    return this.#events.skipped()
  }

  add(sent: DataView, start: number, end: number): Added {
    const payload = payloadIn(sent, start, end)
    if (payload < 0) return "malformed"
    const place = {
      epoch: int64At(sent, start + EPOCH),
      xid: sent.getBigInt64(start + XID),
      id: int64At(sent, start + ID),
    }
    if (this.#upTo !== null && comparePlaces(place, this.#upTo) > 0) return "more"
    this.#addBefore(place)
    const copy = this.#cold[this.#next]
    if (copy !== undefined && comparePlaces(copy, place) === 0) this.#next++
    return this.#put(sent, start, end, Math.max(0, end - payload))
  }

  /** Called after the last row. */
  end(): void {
    this.#addBefore(null)
  }

  /** Whether the page ended before the events did. */
  get hasMore(): boolean {
    return this.#isCut || this.#upTo !== null || this.#events.hasMore
  }

  #addBefore(place: FeedPlace | null): void {
    for (let event = this.#cold[this.#next]; event !== undefined; event = this.#cold[this.#next]) {
      if (place !== null && comparePlaces(event, place) >= 0) return
      this.#next++
      const row = rowOf(event)
      this.#put(viewOf(row), 0, row.length, Buffer.byteLength(event.payload))
    }
  }

  /** A page ends before the event that follows its most bytes. */
  #put(sent: DataView, start: number, end: number, payloadBytes: number): Added {
    if (this.#isCut || this.#bytes >= PAGE_BYTES) {
      this.#isCut = true
      return "more"
    }
    this.#bytes += payloadBytes
    return this.#events.add(sent, start, end)
  }
}
