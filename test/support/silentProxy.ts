/** A TCP port in front of a test database that can fall silent: it accepts what is sent to it and never responds. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { TestDatabase } from "./postgres.ts"

export interface SilentProxy {
  /** The database's URL by way of the proxy. */
  readonly url: string
  /** Whoever is connected hears nothing any more. Who comes later is served, as by a machine that took over. */
  readonly vanish: () => void
  /** The same, and who comes later hears nothing either. */
  readonly fallSilent: () => void
  /** Who comes from now on is served. */
  readonly recover: () => void
  /** Ends the connections of whoever is connected, as a server that restarts does. */
  readonly hangUp: () => void
  readonly close: () => void
}

/** With `silencing` it falls silent by itself, before it passes on what this holds for. */
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
      // Taken in and thrown away, so that its sender's system sees nothing wrong either.
      near.resume()
      // What the lost machine had begun is not committed there any more.
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
