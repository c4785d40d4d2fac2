/**
 * How many connections of a server this process may hold, over all of its pools. A server of PostgreSQL admits few
 * (20 in a small managed one), and each process has more pools than that. So a pool that needs a connection beyond the
 * limit waits until another pool closes an idle one. The sessions that write events are outside the limit: FitConnections
 * leaves room for them.
 *
 * It also limits the attempts in progress: a server that accepts connections but never responds keeps each until its
 * own time limit, long after the driver has given up.
 */
import type { Duplex } from "node:stream"

/** Closes, or frees, one idle session; returns whether there was one. */
export type GiveBack = () => boolean

/**
 * How long an attempt waits for its turn, in milliseconds. Then the server decides: a request to cancel takes no
 * session, and a process whose sessions wait for each other must not wait forever.
 */
const TURN_MILLIS = 1_000

/** The pause until idle sessions are looked for again, in milliseconds. */
const AGAIN_MILLIS = 100

/** Concurrent attempts while the server responds, and after one that got no response. */
const ATTEMPTS = 8
const DOUBTFUL_ATTEMPTS = 1

/** An attempt that waits for its turn. */
interface Waiting {
  readonly socket: Duplex
  readonly start: () => void
  timer?: NodeJS.Timeout
}

export class ConnectionShare {
  /** The number of connections, except those that write events. FitConnections sets it. */
  limit = Number.POSITIVE_INFINITY
  readonly #open = new Set<Duplex>()
  /** Attempts that have no response yet. */
  readonly #unanswered = new Set<Duplex>()
  #isDoubtful = false
  readonly #waiting: Array<Waiting> = []
  readonly #members = new Set<GiveBack>()
  #timer: NodeJS.Timeout | undefined

  /** Whether a pool waits for a connection that another pool could close. */
  get isShort(): boolean {
    return this.#waiting.length > 0 && this.#open.size >= this.limit
  }

  /** Registers a pool, which gives up an idle session when another one needs it. Returns how to leave. */
  join(giveBack: GiveBack): () => void {
    this.#members.add(giveBack)
    return () => void this.#members.delete(giveBack)
  }

  /** Calls `start` once the socket may be connected. A socket that is closed meanwhile is not. */
  admit(socket: Duplex, start: () => void): void {
    const one: Waiting = { socket, start }
    socket.once("close", () => this.#closed(one))
    if (this.#hasTurn) return this.#start(one)
    one.timer = setTimeout(() => this.#expire(one), TURN_MILLIS)
    this.#waiting.push(one)
    this.#makeRoom()
  }

  /** The server refused a session, because it admits no more: all idle ones are given back. */
  refused(): void {
    for (const giveBack of this.#members) while (giveBack());
  }

  /** Closes idle sessions above the limit. */
  fit(limit: number): void {
    this.limit = limit
    for (let n = this.#open.size; n > limit && this.#giveOneBack(); n--);
    this.#next()
  }

  get #hasTurn(): boolean {
    return this.#open.size < this.limit && this.#mayAttempt
  }

  get #mayAttempt(): boolean {
    return this.#unanswered.size < (this.#isDoubtful ? DOUBTFUL_ATTEMPTS : ATTEMPTS)
  }

  #start({ socket, start, timer }: Waiting): void {
    clearTimeout(timer)
    this.#open.add(socket)
    this.#unanswered.add(socket)
    socket.once("data", () => {
      this.#isDoubtful = false
      this.#unanswered.delete(socket)
      this.#next()
    })
    start()
  }

  #closed(one: Waiting): void {
    const { socket, timer } = one
    clearTimeout(timer)
    const at = this.#waiting.indexOf(one)
    if (at >= 0) this.#waiting.splice(at, 1)
    this.#open.delete(socket)
    if (this.#unanswered.delete(socket)) this.#isDoubtful = true
    this.#next()
  }

  /** An attempt has waited for its turn; while the server does not respond, it stays in the queue. */
  #expire(one: Waiting): void {
    if (!this.#mayAttempt) {
      one.timer = setTimeout(() => this.#expire(one), TURN_MILLIS)
      return
    }
    this.#waiting.splice(this.#waiting.indexOf(one), 1)
    this.#start(one)
  }

  #next(): void {
    while (this.#waiting.length > 0 && this.#hasTurn) this.#start(this.#waiting.shift()!)
    if (this.isShort) this.#makeRoom()
  }

  /** Repeated after a pause, because a returned session may have lost its connection. */
  #makeRoom(): void {
    if (!this.isShort || this.#timer !== undefined) return
    this.#giveOneBack()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#next()
    }, AGAIN_MILLIS)
    this.#timer.unref()
  }

  #giveOneBack(): boolean {
    for (const giveBack of this.#members) if (giveBack()) return true
    return false
  }
}
