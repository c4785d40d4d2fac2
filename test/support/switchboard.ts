/**
 * One address for several servers, like a virtual IP or a DNS name that moves: it routes clients to one server, and later to
 * another.
 */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { databaseUrl, ownerRole } from "./postgresAdmin.ts"

export interface Switchboard {
  /** The URL of a database as its owner, on the current server. */
  readonly url: (database: string) => string
  /** Routes clients to the server of this socket directory, and cuts connections to the previous one. */
  readonly leadTo: (socketDir: string) => void
  readonly close: () => void
}

const SOCKET = ".s.PGSQL.5432"

/** Listens in a separate directory. */
export const switchboard = async (dir: string, first: string): Promise<Switchboard> => {
  let target = first
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(join(target, SOCKET))
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      open.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }).listen(join(dir, SOCKET))
  await once(server, "listening")
  const cutAll = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: (database) => databaseUrl(dir, ownerRole, database),
    leadTo: (socketDir) => {
      target = socketDir
      cutAll()
    },
    close: () => {
      server.close()
      cutAll()
    },
  }
}
