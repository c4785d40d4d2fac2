/**
 * Sessions of a pool that are kept between uses: a read that finds one free begins at once, and needs no fiber. They
 * return to the pool after some time without use, and when their connection is lost.
 */
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { LiveSet } from "@data-cabinet/core/runtime/LiveSet"
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { PgConnection } from "@effect/sql-pg"
import { Cause, type Context, Effect, Exit, Fiber, Result, type Scope } from "effect"
import { SqlError } from "effect/sql"
import type { LentSessions } from "./SessionPool.ts"
import type { WireSession } from "./Wires.ts"

/** Milliseconds after which an unused session returns to its pool, which closes it after a while. */
const KEPT_MILLIS = 10_000

/** A session that one caller uses at a time. */
export class KeptSession {
  readonly session: PgConnection.PgConnection
  readonly wire: WireSession
  /** A DISCARD ALL would undo settings that the session needs. */
  readonly settingsAreLoose: boolean
  /** Gives it back to the pool; the first call counts. */
  readonly giveBack: () => void
  /** When it was last used, by the clock of deadlines. */
  usedAt = 0

  constructor(session: PgConnection.PgConnection, wire: WireSession, settingsAreLoose: boolean, giveBack: () => void) {
    this.session = session
    this.wire = wire
    this.settingsAreLoose = settingsAreLoose
    this.giveBack = giveBack
  }
}

type Acquired = Result.Result<KeptSession, SqlError.SqlError>

const failure = (message: string) => {
  const cause = new Error(message)
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "connect" }) })
}

export class KeptSessions {
  readonly #pool: LentSessions
  readonly #wheel: TimerWheel
  readonly #context: Context.Context<never>
  readonly #lent = new LiveSet<Fiber.Fiber<unknown, unknown>>()
  /** The most recently used one is used next. */
  readonly #free: Array<KeptSession> = []
  /** The pool is opening a session for each waiting caller; one that is released meanwhile serves as well. */
  readonly #waiting: Array<(acquired: Acquired) => void> = []
  #isSwept = false

  /** Keeps sessions of the pool until the scope closes. */
  static readonly make = Effect.fnUntraced(function* (
    pool: LentSessions,
  ): Effect.fn.Return<KeptSessions, never, Scope.Scope> {
    const kept = new KeptSessions(pool, yield* timerWheel, yield* Effect.context())
    const leave = pool.share.join(() => kept.#giveOneBack())
    yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(leave), kept.#close()))
    return kept
  })

  private constructor(pool: LentSessions, wheel: TimerWheel, context: Context.Context<never>) {
    this.#pool = pool
    this.#wheel = wheel
    this.#context = context
  }

  /** A session that is free; undefined if none is kept. */
  tryAcquire(): KeptSession | undefined {
    return this.#free.pop()
  }

  /** A session of the pool, which may have to be opened; or none, once the caller has left. */
  acquire(call: AbortableCall): Promise<Acquired> {
    return new Promise((resolve) => {
      const wait = (acquired: Acquired) => {
        stopListening()
        resolve(acquired)
      }
      this.#waiting.push(wait)
      const stopListening = call.onAbort(() => {
        this.#waiting.splice(this.#waiting.indexOf(wait), 1)
        resolve(Result.fail(failure("The caller closed its connection")))
      })
      this.#lend()
    })
  }

  /** Releases a session, in the state in which it was acquired. */
  release(kept: KeptSession): void {
    if (kept.wire.wire.destroyed) return kept.giveBack()
    const next = this.#waiting.shift()
    if (next !== undefined) return next(Result.succeed(kept))
    if (this.#pool.share.isShort) return kept.giveBack()
    kept.usedAt = this.#wheel.now()
    this.#free.push(kept)
    if (!this.#isSwept) this.#sweepLater()
  }

  /** Has a session closed when it is given back to the pool. */
  invalidate(session: PgConnection.PgConnection): Effect.Effect<void> {
    return this.#pool.invalidate(session)
  }

  /** Gets a session from the pool, for as long as it is kept. */
  #lend(): void {
    const work = this.#pool.use((session, settingsAreLoose) => {
      const wire = this.#pool.wireOf(session)
      if (wire !== undefined) return this.#keep(session, wire, settingsAreLoose)
      const lost = Effect.fail(failure("A reader session has no known connection"))
      return Effect.andThen(this.#pool.invalidate(session), lost)
    })
    const fiber = Effect.runForkWith(this.#context)(work)
    const ended = this.#lent.add(fiber)
    fiber.addObserver((exit) => {
      ended()
      if (Exit.isSuccess(exit)) return
      const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
      this.#waiting.shift()?.(Result.fail(error ?? failure(Cause.pretty(exit.cause))))
    })
  }

  #keep(session: PgConnection.PgConnection, wire: WireSession, settingsAreLoose: boolean): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const drop = () => this.#drop(kept)
      const kept = new KeptSession(session, wire, settingsAreLoose, () => {
        // The pool lends the same session again.
        wire.wire.off("close", drop)
        resume(Effect.void)
      })
      wire.wire.once("close", drop)
      this.release(kept)
    })
  }

  #drop(kept: KeptSession): void {
    const at = this.#free.indexOf(kept)
    if (at === -1) return
    this.#free.splice(at, 1)
    kept.giveBack()
  }

  /** The least recently used one. */
  #giveOneBack(): boolean {
    const kept = this.#free.shift()
    kept?.giveBack()
    return kept !== undefined
  }

  #sweepLater(): void {
    this.#isSwept = true
    const deadline = this.#wheel.now() + KEPT_MILLIS
    this.#wheel.watch({
      deadline,
      expire: () => {
        this.#isSwept = false
        // The first one is the least recently used.
        while (this.#free.length > 0 && this.#free[0]!.usedAt <= this.#wheel.now() - KEPT_MILLIS) {
          this.#free.shift()!.giveBack()
        }
        if (this.#free.length > 0) this.#sweepLater()
      },
    })
  }

  #close(): Effect.Effect<void> {
    const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
    this.#lent.forEach((fiber) => fibers.push(fiber))
    this.#free.length = 0
    return Fiber.interruptAll(fibers)
  }
}
