/**
 * Server-sent events: responses without an end of their own. Their number is bounded, of one receiver and of all;
 * whether the receiver may still have them is checked again and again; something is sent in silence, so that no proxy
 * takes the connection for dead; and they end when the routes do, or the server stops. A body is pulled, so nothing
 * piles up for a slow receiver.
 *
 * Decision: docs/decisions/0065-the-feed-waits-without-a-session.md
 */
import { Context, Effect, Exit, Scope } from "effect"
import type { Response } from "./Request.ts"

/** A stream's next event; null at its end. */
export type NextEvent = Effect.Effect<string | null>

export interface EventStreams {
  /** Why one more stream for `who` cannot begin now; null if it can. */
  readonly refusal: (who: string) => string | null
  /** Counts a request that waits as a stream, until the returned function is called; or why it may not wait. */
  readonly hold: (who: string) => (() => void) | string
  /**
   * A stream for `who`: `open` runs at the first read, and its scope closes at the end. `mayGoOn` is checked every few
   * seconds.
   */
  readonly response: (
    who: string,
    open: Effect.Effect<NextEvent, unknown, Scope.Scope>,
    mayGoOn: Effect.Effect<boolean>,
  ) => Response
}

/** How many streams there may be, and their times in milliseconds. */
export interface StreamLimits {
  readonly ofOne: number
  readonly ofAll: number
  readonly check: number
  /** Proxies close connections that are silent for a minute, some after 30 seconds. */
  readonly silence: number
}

export const EventStreamLimits = Context.Reference<StreamLimits>("@data-cabinet/http-node/server/EventStreamLimits", {
  defaultValue: () => ({ ofOne: 10, ofAll: 200, check: 5_000, silence: 15_000 }),
})

/** The time after which a receiver reconnects. */
const RETRY_MILLIS = 2_000

/** An event as the format has it; data of several lines becomes several `data` lines. */
export const eventText = (id: string, data: string): string =>
  `id: ${id}\ndata: ${/[\r\n]/.test(data) ? data.split(/\r\n|[\r\n]/).join("\ndata: ") : data}\n\n`

/** Refusals call the counted thing `noun`. */
export const eventStreamsWithin = Effect.fnUntraced(function* (limits: StreamLimits, noun: string) {
  const all = new Set<{ readonly who: string }>()
  const context = yield* Effect.context()
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => Promise.all([...all].map(async (one) => one instanceof StreamBody && one.return()))),
  )
  const refusal = (who: string): string | null => {
    if ([...all].filter((one) => one.who === who).length >= limits.ofOne) {
      return `You already have ${limits.ofOne} open ${noun}; close some of them.`
    }
    return all.size < limits.ofAll
      ? null
      : `${limits.ofAll} ${noun} are already open, which is the maximum: try again later.`
  }
  const streams: EventStreams = {
    refusal,
    hold: (who) => {
      const refused = refusal(who)
      if (refused !== null) return refused
      const held = { who }
      all.add(held)
      return () => void all.delete(held)
    },
    response: (who, open, mayGoOn) => ({
      status: 200,
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // A proxy that gathers a response before it passes it on would show nothing.
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
      },
      body: new StreamBody({
        who,
        open,
        mayGoOn,
        limits,
        run: (work, signal) => Effect.runPromiseWith(context)(work, { signal }),
        begin: (body) => {
          // Others began since it was admitted, and its head has been sent.
          if (refusal(who) !== null) return false
          all.add(body)
          return true
        },
        end: (body) => void all.delete(body),
      }),
      streaming: true,
    }),
  }
  return streams
})

export const eventStreams: Effect.Effect<EventStreams, never, Scope.Scope> = Effect.flatMap(
  EventStreamLimits,
  (limits) => eventStreamsWithin(limits, "streams"),
)

interface Parts {
  readonly who: string
  readonly open: Effect.Effect<NextEvent, unknown, Scope.Scope>
  readonly mayGoOn: Effect.Effect<boolean>
  readonly limits: (typeof EventStreamLimits)["Service"]
  readonly run: <A, E>(work: Effect.Effect<A, E>, signal?: AbortSignal) => Promise<A>
  readonly begin: (body: StreamBody) => boolean
  readonly end: (body: StreamBody) => void
}

const LATE = Symbol("late")

const within = async <A>(waited: Promise<A>, millis: number): Promise<A | typeof LATE> => {
  const late = Promise.withResolvers<typeof LATE>()
  const timer = setTimeout(() => late.resolve(LATE), millis)
  try {
    return await Promise.race([waited, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const OVER = { done: true, value: undefined } as const

/** Not a generator: the return of one waits for its next value, which may be long in coming. */
class StreamBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array> {
  readonly #parts: Parts
  readonly #scope = Scope.makeUnsafe()
  readonly #leave = new AbortController()
  /** Null before the first read: a body that is never read holds nothing. */
  #next: NextEvent | null = null
  /** The pending wait, kept across checks: an abandoned wait could lose the event it was about to return. */
  #pending: Promise<string | null> | null = null
  #saidAt = 0
  #checkedAt = 0
  #isOver = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get who(): string {
    return this.#parts.who
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const text = this.#isOver ? null : await this.#text()
      if (text !== null) {
        this.#saidAt = performance.now()
        return { done: false, value: Buffer.from(text) }
      }
    } catch {
      // The receiver left, or the database became unavailable: the receiver will reconnect from where it was.
    }
    return this.return()
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isOver) return OVER
    this.#isOver = true
    this.#parts.end(this)
    this.#leave.abort()
    await this.#parts.run(Scope.close(this.#scope, Exit.void))
    return OVER
  }

  async #text(): Promise<string | null> {
    const { open, run, begin, mayGoOn, limits } = this.#parts
    if (this.#next === null) {
      if (!begin(this)) return null
      this.#checkedAt = performance.now()
      this.#next = await run(Scope.provide(open, this.#scope), this.#leave.signal)
      return `retry: ${RETRY_MILLIS}\n\n`
    }
    while (true) {
      this.#pending ??= run(this.#next, this.#leave.signal)
      const said = await within(this.#pending, limits.check)
      if (said !== LATE) this.#pending = null
      const now = performance.now()
      if (now - this.#checkedAt >= limits.check) {
        this.#checkedAt = now
        if (!(await run(mayGoOn, this.#leave.signal))) return null
      }
      if (said !== LATE) return said
      if (now - this.#saidAt >= limits.silence) return ":\n\n"
    }
  }
}
