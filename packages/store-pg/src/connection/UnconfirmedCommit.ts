/**
 * Notices that PostgreSQL has ended the wait of a commit for its standby, because the wait was cancelled. It reports
 * success then, with a warning that the driver does not pass on; code that acknowledges a commit must know.
 */
import type { Duplex } from "node:stream"
import { PgProtocol } from "@effect/sql-pg"
import { FrameReader } from "./FrameReader.ts"

const NOTICE = 0x4e

/** PostgreSQL's own warnings are shorter; a longer one, raised by a trigger, is of no interest. */
const MAX_NOTICE_BYTES = 8_192

/** Messages are translated, the names of source files are not. */
const SYNC_REP = "syncrep.c"

/** Reads a connection before the driver does; calls `found` for each such warning. */
export const watchCommits = <Socket extends Duplex>(socket: Socket, found: () => void): Socket => {
  const frames = new FrameReader()
  const consumer = {
    mostBytes: (type: number) => (type === NOTICE ? MAX_NOTICE_BYTES : -1),
    skipped: () => {},
    read: (_type: number, bytes: DataView, start: number, end: number) => {
      if (fileOf(bytes, start, end) === SYNC_REP) found()
      return true
    },
  }
  const read = (chunk: Uint8Array) => {
    try {
      frames.push(chunk, consumer)
    } catch {
      // The driver reports the problem.
      socket.off("data", read)
    }
  }
  return socket.on("data", read)
}

/** The source file that raised a notice. */
const fileOf = (bytes: DataView, start: number, end: number): string | undefined => {
  const frame = Buffer.alloc(end - start + 5)
  frame[0] = NOTICE
  frame.writeInt32BE(end - start + 4, 1)
  frame.set(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start), 5)
  const [message] = PgProtocol.makeParser().push(frame)
  return message?._tag === "NoticeResponse" ? message.fields.file : undefined
}
