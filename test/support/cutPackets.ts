/**
 * With `CUT_PACKETS` (`npm run trials -- packets`), data from PostgreSQL reaches sessions that are read without the driver in
 * pieces, in all tests. Short data, and the beginning of long data, arrives byte by byte, and the rest in small pieces. Runs
 * before each test file.
 */
import { type FrameConsumer, FrameReader } from "@data-cabinet/store-pg/connection/FrameReader"

/** How much arrives byte by byte: eight megabytes would take longer than a read may. */
const EACH_BYTE = 2_000
/** A prime, so that repeating data is cut at another place each time. */
const PIECE = 509

type Push = (this: FrameReader, chunk: Uint8Array, consumer: FrameConsumer) => number

const push = Object.getOwnPropertyDescriptor(FrameReader.prototype, "push")!.value as Push

const pushEachByte: Push = function pushEachByte(chunk, consumer) {
  let isOver = false
  const watched: FrameConsumer = {
    mostBytes: (type) => consumer.mostBytes(type),
    skipped: (type) => consumer.skipped(type),
    read: (...message) => {
      isOver = !consumer.read(...message)
      return !isOver
    },
  }
  let at = 0
  while (at < chunk.length && !isOver) {
    const size = at < EACH_BYTE ? 1 : PIECE
    at += push.call(this, chunk.subarray(at, at + size), watched)
  }
  return at
}

// Test files in one process share the class.
if (process.env["CUT_PACKETS"] !== undefined && push.name !== pushEachByte.name)
  FrameReader.prototype.push = pushEachByte
