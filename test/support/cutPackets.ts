/**
 * With `CUT_PACKETS`, what PostgreSQL sends to the sessions that are read without the driver arrives byte by byte in all
 * tests (`npm run trials -- packets`): what is short, and the beginning of what is long, whose rest arrives in small pieces.
 * Runs before each test file.
 */
import { type FrameConsumer, FrameReader } from "@data-cabinet/store-pg/connection/FrameReader"

/** By byte, eight megabytes take longer than a read may. */
const EACH_BYTE = 2_000
/** A prime: it cuts everything that repeats at another place each time. */
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

// Files that share a process share the class.
if (process.env["CUT_PACKETS"] !== undefined && push.name !== pushEachByte.name)
  FrameReader.prototype.push = pushEachByte
