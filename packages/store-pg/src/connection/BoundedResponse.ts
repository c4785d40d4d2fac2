/**
 * A connection whose server may send only a bounded number of bytes in response to the last request. A function behind a
 * view can raise unsolicited messages of many megabytes one after the other, and change any setting that would suppress
 * them. Bytes are counted instead of messages, so that it works the same on an encrypted connection.
 */
import { Duplex } from "node:stream"

/** The reason for closing the connection. */
export class ResponseTooLong extends Error {
  constructor(maxBytes: number) {
    super(`a response had more than ${maxBytes} bytes`)
  }
}

export const boundedResponse = (socket: Duplex, maxBytes: number): Duplex => {
  let received = 0
  const stream = new Duplex({
    // Only the socket's own end matters.
    allowHalfOpen: true,
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => {
      received = 0
      socket.write(chunk, done)
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket
    .on("data", (chunk: Uint8Array) => {
      received += chunk.byteLength
      if (received > maxBytes) stream.destroy(new ResponseTooLong(maxBytes))
      else if (!stream.push(chunk)) socket.pause()
    })
    .on("end", () => stream.push(null))
    .on("error", (error) => stream.destroy(error))
    .on("close", () => stream.destroy())
  return stream
}
