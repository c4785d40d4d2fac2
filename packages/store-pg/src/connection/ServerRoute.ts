/**
 * Which server of a database URL is in use, and how to connect to it. All pools of a process with the same list of
 * hosts share it, so a discovery of one applies to all: a failover is discovered once, and no pool stays with the old
 * primary. Once the server is known, opening a session costs nothing extra.
 *
 * Decision: docs/decisions/0042-several-hosts-and-tls.md
 */
import { connect, Socket } from "node:net"
import { Duplex } from "node:stream"
import { Semaphore } from "effect"
import { ConnectionShare } from "./ConnectionShare.ts"
import type { DatabaseUrl, Server } from "./DatabaseUrl.ts"

/** For sessions that only listen: without it they would never learn that their server is gone. */
const KEEP_ALIVE_MILLIS = 30_000

/** A unix socket supports neither option, and ignores both. */
const SWITCHES = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MILLIS }

/** The first byte of an error that PostgreSQL or a pooler sends. */
const ERROR_RESPONSE = 0x45

const optionsOf = ({ host, port }: Server) =>
  host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}`, ...SWITCHES } : { host, port, ...SWITCHES }

/** Opens a connection to a server. */
export const openSocket = (server: Server): Socket => connect(optionsOf(server))

/** Opens a connection once the process's share of the server has room; earlier writes are buffered. */
const openInTurn = (server: Server, share: ConnectionShare): Socket => {
  const { noDelay, keepAlive, keepAliveInitialDelay } = SWITCHES
  const socket = new Socket()
  socket.cork()
  share.admit(socket, () => {
    socket.connect(optionsOf(server))
    socket.setNoDelay(noDelay).setKeepAlive(keepAlive, keepAliveInitialDelay)
    socket.uncork()
  })
  return socket
}

export class ServerRoute {
  readonly servers: ReadonlyArray<Server>
  readonly attributes: DatabaseUrl["attributes"]
  readonly mode: DatabaseUrl["encryption"]["mode"]
  /** One probe at a time. */
  readonly probing = Semaphore.makeUnsafe(1)
  /** The number of probes that have ended: a caller that waited for one does not repeat it. */
  probes = 0
  /** Whether the server in use is known to be the right one. Written by probes; `suspect` withdraws it. */
  isSettled: boolean
  /** Index of the server in use. Written by probes. */
  current = 0
  /** Whether the server in use did not respond, so that the others are probed first. Written by `doubt` and probes. */
  isDoubted = false
  /** Why no server can be used, found by the last probe. The next connection attempt fails with it. */
  failure: Error | null = null
  /** For sslmode prefer and allow: whether the server in use is spoken to over TLS. Written by probes. */
  encrypts: boolean
  /** A pooler refuses settings when a session is opened, so they are set by statements only. Written by probes. */
  refusesStartup = false
  /** How many connections this process may hold. */
  readonly share = new ConnectionShare()
  /** The open connections, by the server that they lead to. */
  readonly #sockets = new Map<Socket, number>()

  constructor({ servers, attributes, encryption }: DatabaseUrl) {
    this.servers = servers
    this.attributes = attributes
    this.mode = encryption.mode
    this.encrypts = this.mode !== "disable" && this.mode !== "allow"
    this.isSettled = servers.length === 1 && this.mode !== "prefer" && this.mode !== "allow"
  }

  get server(): Server {
    return this.servers[this.current]!
  }

  /** The server in use may be the wrong one, or gone: the next connection attempt looks for the right one. */
  suspect(): void {
    this.isSettled = false
  }

  /**
   * Called when the server in use did not respond. It may still claim to be a primary: a replaced primary that does not
   * know it waits for a standby that no longer confirms anything.
   */
  doubt(): void {
    if (this.servers.length === 1) return
    this.isDoubted = true
    this.suspect()
  }

  /** Uses the server with this index. Connections to others end, for their sessions belong to another server. */
  accept(index: number): void {
    this.current = index
    this.failure = null
    this.isDoubted = false
    this.isSettled = true
    for (const [socket, at] of this.#sockets) if (at !== index) socket.destroy()
  }

  /** Ends all connections, and looks for the right server again. */
  leave(): void {
    this.suspect()
    for (const socket of this.#sockets.keys()) socket.destroy()
  }

  /**
   * A new connection to the server in use; the driver calls this to get its socket. One that waits counts against the
   * process's share.
   */
  open(waitsForTurn = false): Socket | Duplex {
    if (this.failure !== null) return new Duplex().destroy(this.failure)
    const index = this.current
    const server = this.servers[index]!
    const socket = waitsForTurn ? openInTurn(server, this.share) : openSocket(server)
    this.#sockets.set(socket, index)
    socket.once("close", () => {
      this.#sockets.delete(socket)
      if (this.servers.length > 1 && index === this.current) this.suspect()
    })
    // An error before any other response: the server is starting, or a pooler refuses settings. It is hidden by TLS,
    // but then the probe at the process's start has seen it.
    socket.once("data", (chunk: Uint8Array) => {
      if (chunk[0] === ERROR_RESPONSE) this.suspect()
    })
    return socket
  }
}

const routes = new Map<string, ServerRoute>()

/** The route of a URL, shared by all URLs with the same servers and requirements. */
export const routeOf = (url: DatabaseUrl): ServerRoute => {
  const { servers, attributes, encryption } = url
  const key = JSON.stringify([servers, attributes, encryption.mode])
  const known = routes.get(key)
  if (known !== undefined) return known
  const route = new ServerRoute(url)
  routes.set(key, route)
  return route
}
