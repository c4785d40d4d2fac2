/**
 * The sessions of one pool, under their own name and on sockets that we hold. The driver can neither report that an
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
  /** Whether its connections are counted in the process's share of the server. */
  readonly isCounted: boolean
  /** Opens one more connection; the driver calls this to get its socket. */
  readonly stream: () => Duplex
  /** A connection that waits for no turn: for a request to cancel, which takes no session. */
  readonly direct: () => Duplex
  /**
   * Closes the connections opened before this reading of the monotonic clock, or all if none is given; returns their
   * number.
   */
  readonly cut: (openedBefore?: number) => number
}

/** The name of a session, whose prefix a URL may set. */
export const sessionName = (applicationName: string, name: string): string =>
  name.startsWith(DEFAULT_NAME) ? applicationName + name.slice(DEFAULT_NAME.length) : name

export interface GroupOptions {
  /** Called whenever one of its connections has closed, whichever side closed it. */
  readonly closed?: () => void
  /** A connection is closed if its server sends more bytes than that in response to a statement. */
  readonly maxResponse?: number
  /** Whether its connections are counted in the process's share of the server, and wait for their turn. */
  readonly waitsForTurn?: boolean
}

/** Random, in the name of each group of this process: FitConnections counts the processes by it. */
const PROCESS = randomBytes(4).toString("hex")
let groups = 0

/** The suffix of a group's name. */
export const GROUP_NAME = "([0-9a-f]{8})[0-9a-f]{4}$"

const groupId = (): string => PROCESS + (groups++ & 0xffff).toString(16).padStart(4, "0")

/** A group without connections. */
export const sessionGroup = (
  url: string,
  name: string,
  { closed = () => {}, maxResponse, waitsForTurn }: GroupOptions = {},
): SessionGroup => {
  const open = new Map<Duplex, number>()
  const parsed = Result.getOrUndefined(parseDatabaseUrl(url))
  return {
    applicationName: `${sessionName(parsed?.applicationName ?? DEFAULT_NAME, name)} ${groupId()}`,
    isCounted: waitsForTurn === true,
    direct: () => routeOf(parsed!).open(),
    stream: () => {
      // A URL that cannot be parsed has been refused before a connection is tried.
      const socket = routeOf(parsed!).open(waitsForTurn)
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
