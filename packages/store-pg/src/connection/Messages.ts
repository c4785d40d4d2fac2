/**
 * PostgreSQL's messages of the extended protocol, for reading a session without its driver.
 *
 * Decision: docs/decisions/0033-messages-of-functions.md
 */
import { PgProtocol } from "@effect/sql-pg"
import { Result } from "effect"
import { SqlError } from "effect/sql"
import { ProtocolError } from "./FrameReader.ts"

const code = (letter: string): number => letter.charCodeAt(0)
export const ERROR = code("E")
export const NOTICE = code("N")
export const PARAMETER = code("S")
export const NOTIFICATION = code("A")
export const CLOSED = code("3")
export const PARSED = code("1")
export const BOUND = code("2")
export const COLUMNS = code("T")
export const ROW = code("D")
export const COMPLETE = code("C")
export const SUSPENDED = code("s")
export const READY = code("Z")

export const IDLE = code("I")

/** Only rows and errors may be longer. */
const MOST_BYTES = 65_536
/** As many as the driver accepts. */
const MOST_ERROR_BYTES = PgProtocol.defaultMaxMessageSize

/** The most bytes that a message of this type may have, given those of a row. */
export const mostBytesOf = (type: number, ofRow: number): number => {
  if (type === ROW) return ofRow
  return type === ERROR ? MOST_ERROR_BYTES : MOST_BYTES
}

/** Whether the server may send it at any time, about something else. */
export const isAside = (type: number): boolean => type === NOTICE || type === NOTIFICATION || type === PARAMETER

/** Whether a message that was too long was a row. Fails for one of the others that matter. */
export const isLongRow = (type: number): boolean => {
  if (type !== ROW && !isAside(type)) throw new ProtocolError("A message is too long")
  return type === ROW
}

export const bind = PgProtocol.makeBindEncoder<string>(
  (sink, value) => {
    sink.utf8(value)
    return Result.succeed(undefined)
  },
  () => true,
)

/** The statement of that name has other parameters. */
export const WRONG_MESSAGE = "08P01"
/** The statement's name is unknown to the server, or its plan would return something else now. */
export const STALE_NAMES: ReadonlySet<string | undefined> = new Set(["26000", "0A000"])

/** The oid of each column's type in a RowDescription. */
const columnTypes = (bytes: DataView, start: number, end: number): ReadonlyArray<number> => {
  const types: Array<number> = []
  let at = start + 2
  for (let left = bytes.getUint16(start); left > 0; left--) {
    while (bytes.getUint8(at) !== 0) at++
    types.push(bytes.getUint32(at + 7))
    at += 19
  }
  if (at !== end) throw new ProtocolError("A description of columns has a wrong length")
  return types
}

/** Whether a RowDescription is of columns of these types, by oid. */
export const hasTypes = (bytes: DataView, start: number, end: number, types: ReadonlyArray<number>): boolean => {
  const found = columnTypes(bytes, start, end)
  return found.length === types.length && found.every((type, index) => type === types[index])
}

/** The text in a row of one value. */
export const versionIn = (bytes: DataView, start: number, end: number): string | null => {
  if (end - start < 6 || bytes.getUint16(start) !== 1) return null
  const size = bytes.getInt32(start + 2)
  return size === end - start - 6 ? Buffer.from(bytes.buffer, bytes.byteOffset + start + 6, size).toString() : null
}

/** The fields of an ErrorResponse, as the driver reads them. */
export const errorFields = (bytes: DataView, start: number, end: number): PgProtocol.ErrorFields => {
  const frame = Buffer.alloc(end - start + 5)
  frame[0] = ERROR
  frame.writeInt32BE(end - start + 4, 1)
  frame.set(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start), 5)
  const [message] = PgProtocol.makeParser().push(frame)
  if (message?._tag !== "ErrorResponse") throw new ProtocolError("An error message cannot be parsed")
  return message.fields
}

export const failureOf = (fields: PgProtocol.ErrorFields): SqlError.SqlError => {
  const message = fields.message ?? "Unknown PostgreSQL error"
  const cause = Object.assign(new Error(message), fields)
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message, operation: "query" }) })
}

/** A connection that was lost. */
export const lostBy = (cause: Error): SqlError.SqlError => {
  const message = `The connection was lost: ${cause.message}`
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "query" }) })
}
