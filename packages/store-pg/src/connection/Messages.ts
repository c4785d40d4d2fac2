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
export const MOST_BYTES = 65_536
/** As many as the driver accepts. */
export const MOST_ERROR_BYTES = PgProtocol.defaultMaxMessageSize

export const bind = PgProtocol.makeBindEncoder<string>(
  (sink, value) => {
    sink.utf8(value)
    return Result.succeed(undefined)
  },
  () => true,
)

/** The oid of each column's type in a RowDescription. */
export const columnTypes = (bytes: DataView, start: number, end: number): ReadonlyArray<number> => {
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
