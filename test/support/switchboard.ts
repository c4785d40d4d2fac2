/**
 * One address for several servers, like a virtual IP or a name that is moved: clients are routed to one of them, and later
 * to another.
 */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { databaseUrl, ownerRole } from "./postgresAdmin.ts"

export interface Switchboard {
  /** The URL of a database as its owner, wherever that leads to. */
  readonly url: (database: string) => string
  /** Leads everybody to the server of this socket directory; connections to the one before are cut off. */
  readonly leadTo: (socketDir: string) => void
  readonly close: () => void
}

const SOCKET = ".s.PGSQL.5432"

/** Listens in a directory of its own. */
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
