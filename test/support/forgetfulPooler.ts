/**
 * A proxy that acts like a pooler with `ignore_startup_parameters`: it silently drops startup settings other than user and
 * database.
 */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface ForgetfulPooler {
  /** The same URL, through the proxy. */
  readonly through: (url: string) => string
  /** The settings that were dropped, by session. */
  readonly dropped: ReadonlyArray<ReadonlyArray<string>>
  readonly close: () => void
}

const KEPT = ["user", "database"]

/** The startup packet without the dropped settings, and their names. */
const forget = (packet: Buffer) => {
  const words = packet.toString("utf8", 8, packet.length - 2).split("\0")
  const kept: Array<string> = []
  const dropped: Array<string> = []
  for (let at = 0; at < words.length; at += 2) {
    if (KEPT.includes(words[at]!)) kept.push(words[at]!, words[at + 1]!)
    else dropped.push(words[at]!)
  }
  const body = Buffer.from(`${kept.join("\0")}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  packet.copy(head, 4, 4, 8)
  return { packet: Buffer.concat([head, body]), dropped }
}

const PROTOCOL = 3

export const forgetfulPooler = async (socketDir: string): Promise<ForgetfulPooler> => {
  const dropped: Array<ReadonlyArray<string>> = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(`${socketDir}/.s.PGSQL.5432`)
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
    database.pipe(client)
    client.once("data", (first: Buffer) => {
      // Any other first message is a request to cancel a statement.
      const starts = first.readInt16BE(4) === PROTOCOL
      const startup = starts ? forget(first) : { packet: first, dropped: [] }
      if (starts) dropped.push(startup.dropped)
      database.write(startup.packet)
      client.pipe(database)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  return {
    dropped,
    through: (url) => {
      const address = new URL(url)
      address.searchParams.delete("host")
      address.host = `127.0.0.1:${port}`
      return address.toString()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
