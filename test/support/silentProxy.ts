/** A TCP port in front of a test database that can fall silent: it accepts data and never responds. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { TestDatabase } from "./postgres.ts"

export interface SilentProxy {
  /** The database's URL through the proxy. */
  readonly url: string
  /** Silences existing connections. New ones are served, as by a machine that has taken over. */
  readonly vanish: () => void
  /** Silences existing and new connections. */
  readonly fallSilent: () => void
  /** Serves connections that are opened from now on. */
  readonly recover: () => void
  /** Ends existing connections, as a restarting server does. */
  readonly hangUp: () => void
  readonly close: () => void
}

/** With `silencing`, the proxy falls silent before it passes on data for which that returns true. */
export const silentProxy = async (
  database: TestDatabase,
  silencing: (sent: string) => boolean = () => false,
): Promise<SilentProxy> => {
  const connected = new Map<Socket, Socket>()
  const kept = new Set<Socket>()
  let silent = false
  const server = createServer((near) => {
    kept.add(near)
    near.on("error", () => {}).on("close", () => kept.delete(near))
    if (silent) return void near.resume()
    const far = connect(`${database.socketDir}/.s.PGSQL.5432`)
    connected.set(near, far)
    near.on("data", (chunk: Buffer) => {
      if (!silencing(chunk.toString("latin1"))) return
      silent = true
      vanish()
    })
    near.pipe(far).pipe(near)
    near.on("error", () => far.destroy()).on("close", () => connected.delete(near))
    far.on("error", () => near.destroy())
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const url = new URL(database.url)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  url.search = ""
  const vanish = () => {
    for (const [near, far] of connected) {
      near.unpipe()
      far.unpipe()
      // Read and discarded, so that the sender's system notices nothing.
      near.resume()
      // The lost machine no longer commits what it had begun.
      far.destroy()
    }
    connected.clear()
  }
  return {
    url: url.toString(),
    vanish,
    fallSilent: () => {
      silent = true
      vanish()
    },
    recover: () => void (silent = false),
    hangUp: () => {
      for (const near of connected.keys()) near.destroy()
    },
    close: () => {
      for (const near of kept) near.destroy()
      server.close()
    },
  }
}
