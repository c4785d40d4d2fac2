/**
 * The sessions of one pool, under a name of their own and on sockets that we hold. The driver can neither report that an
 * idle session's connection was closed, nor release one that does not respond: interrupting a statement waits for its
 * server. So the sockets are opened here. A group can be found in `pg_stat_activity` by its name, and can be cut off:
 * every statement in flight then fails at once, as on a lost connection.
 */
import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { boundedResponse } from "./BoundedResponse.ts"

export interface SessionGroup {
  /** Unique to this group, over all processes. */
  readonly applicationName: string
  /** Opens one more connection; the driver calls this to get its socket. */
  readonly stream: () => Duplex
  /**
   * Closes the connections opened before this reading of the monotonic clock, or all if none is given; returns their
   * number.
   */
  readonly cut: (openedBefore?: number) => number
}

interface Place {
  readonly host: string
  readonly port: number
  /** The path of a unix socket. */
  readonly path: string | undefined
}

const placeOf = (address: string): Place => {
  const url = new URL(address)
  const named = url.searchParams.get("host") ?? decodeURIComponent(url.hostname.replace(/^\[(.*)\]$/, "$1"))
  const host = named === "" ? "localhost" : named
  const port = Number(url.searchParams.get("port") ?? (url.port === "" ? 5432 : url.port))
  return { host, port, path: host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : undefined }
}

/** For sessions that only listen: without it they would never learn that their server is gone. */
const KEEP_ALIVE_MILLIS = 30_000

/** A unix socket supports neither option, and ignores both. */
const SWITCHES = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MILLIS }

/**
 * `closed` is called whenever one of its connections has closed, whichever side closed it. With `maxResponse`, a
 * connection is closed if its server sends more bytes than that in response to a statement.
 */
export const sessionGroup = (
  url: string,
  name: string,
  closed: () => void = () => {},
  maxResponse?: number,
): SessionGroup => {
  const open = new Map<Socket, number>()
  return {
    applicationName: `${name} ${randomBytes(4).toString("hex")}`,
    stream: () => {
      const { host, port, path } = placeOf(url)
      const socket = connect(path === undefined ? { host, port, ...SWITCHES } : { path, ...SWITCHES })
      open.set(socket, performance.now())
      socket.once("close", () => {
        open.delete(socket)
        closed()
      })
      return maxResponse === undefined ? socket : boundedResponse(socket, maxResponse)
    },
    cut: (openedBefore = Number.POSITIVE_INFINITY) => {
      const old = [...open.keys()].filter((socket) => open.get(socket)! < openedBefore)
      for (const socket of old) socket.destroy()
      return old.length
    },
  }
}
