/**
 * A TCP port that responds to every new session with a PostgreSQL error, like a server or a pooler that refuses everybody.
 */
import { type AddressInfo, createServer } from "node:net"

export interface Refusal {
  /** The SQLSTATE. */
  readonly code: string
  readonly message: string
}

const frame = ({ code, message }: Refusal): Buffer => {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write("E")
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

export const refusingServer = async (refusal: () => Refusal) => {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => socket.end(frame(refusal())))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `postgres://nobody@127.0.0.1:${port}/cabinet`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
