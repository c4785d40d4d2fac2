/**
 * The sessions of one pool, under a name of their own and on sockets that we hold. The driver can neither report that an
 * idle session's connection was closed, nor release one that does not respond: interrupting a statement waits for its
 * server. So the sockets are opened here. A group can be found in `pg_stat_activity` by its name, and can be cut off:
 * every statement in flight then fails at once, as on a lost connection.
 */
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"
import { Result } from "effect"
import { boundedResponse } from "./BoundedResponse.ts"
import { DEFAULT_NAME, parseDatabaseUrl } from "./DatabaseUrl.ts"
import { routeOf } from "./ServerRoute.ts"

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

/** What a session is called: a URL may give the beginning of the name. */
export const sessionName = (applicationName: string, name: string): string =>
  name.startsWith(DEFAULT_NAME) ? applicationName + name.slice(DEFAULT_NAME.length) : name

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
  const open = new Map<Duplex, number>()
  const parsed = Result.getOrUndefined(parseDatabaseUrl(url))
  return {
    applicationName: `${sessionName(parsed?.applicationName ?? DEFAULT_NAME, name)} ${randomBytes(4).toString("hex")}`,
    stream: () => {
      // A URL that cannot be parsed has been refused before a connection is tried.
      const socket = routeOf(parsed!).open()
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
      if (old.length > 0) routeOf(parsed!).doubt()
      return old.length
    },
  }
}
