/**
 * A unix socket in front of PostgreSQL's that counts round trips. Each Sync or simple query of a client counts once, however
 * many statements it ends.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const SYNC = "S".charCodeAt(0)
const QUERY = "Q".charCodeAt(0)

/** Reads a client's frames; the first one has no type. */
const framesOf = (count: () => void) => {
  let rest = Buffer.alloc(0)
  let begun = false
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = begun ? 5 : 4
      if (rest.length < head) return
      const length = rest.readUInt32BE(head - 4) + head - 4
      if (rest.length < length) return
      if (begun && (rest[0] === SYNC || rest[0] === QUERY)) count()
      begun = true
      rest = rest.subarray(length)
    }
  }
}

export interface CountingSocket {
  /** The directory that clients name as the host. */
  readonly directory: string
  /** Counts the round trips of some work, until it has ended. */
  readonly during: (work: () => Promise<unknown>) => Promise<number>
  /** The most connections that were open at the same time. */
  readonly most: () => number
  readonly close: () => Promise<void>
}

export const countingSocket = async (socketDir: string): Promise<CountingSocket> => {
  const directory = mkdtempSync(join(tmpdir(), "count-"))
  const open = new Set<Socket>()
  let roundTrips = 0
  let clients = 0
  let most = 0
  const server = createServer((client) => {
    most = Math.max(most, ++clients)
    client.on("close", () => clients--)
    const database = connect(join(socketDir, ".s.PGSQL.5432"))
    for (const socket of [client, database]) {
      open.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        open.delete(socket)
        client.destroy()
        database.destroy()
      })
    }
    client.on(
      "data",
      framesOf(() => (roundTrips += 1)),
    )
    client.pipe(database).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(join(directory, ".s.PGSQL.5432"), resolve))
  return {
    directory,
    during: async (work) => {
      const before = roundTrips
      await work()
      return roundTrips - before
    },
    most: () => most,
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
