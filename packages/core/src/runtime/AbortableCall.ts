/**
 * A call whose caller may leave before it has its result. The call is then aborted: code working for it stops, and its
 * result is not read. An AbortSignal would do the same, at several times the cost of a short request's own steps.
 */
import { type Context, Effect, type Result } from "effect"
import type { Deadline } from "./Deadline.ts"
import type { TimerWheel } from "./TimerWheel.ts"

/** The values that accompany a request from layer to layer. */
export interface Call {
  /** The time by which the caller needs a result, even if it is a failure. */
  readonly deadline: Deadline
  /** The context for its spans and log lines. */
  readonly context: Context.Context<never>
}

export interface AbortableCall extends Call {
  readonly isAborted: boolean
  /** Calls `abort` when the call is aborted, or at once if it already was. The returned function withdraws it. */
  readonly onAbort: (abort: () => void) => () => void
}

/** A call as seen by its owner, which can abort it. */
export class OwnCall implements AbortableCall {
  readonly deadline: Deadline
  readonly context: Context.Context<never>
  readonly #listening: Array<() => void> = []
  #isAborted = false

  constructor(deadline: Deadline, context: Context.Context<never>) {
    this.deadline = deadline
    this.context = context
  }

  get isAborted(): boolean {
    return this.#isAborted
  }

  onAbort(abort: () => void): () => void {
    if (this.#isAborted) {
      abort()
      return () => {}
    }
    this.#listening.push(abort)
    return () => {
      const at = this.#listening.indexOf(abort)
      if (at !== -1) this.#listening.splice(at, 1)
    }
  }

  abort(): void {
    this.#isAborted = true
    for (const abort of this.#listening.splice(0)) abort()
  }
}

/** Aborts work at a deadline, or with the call for which it runs. At the deadline, returns `late` at once. */
export const withDeadline = <A>(
  wheel: TimerWheel,
  call: AbortableCall,
  deadline: Deadline,
  late: A,
  work: (call: AbortableCall) => Promise<A>,
): Promise<A> =>
  new Promise((resolve, reject) => {
    const own = new OwnCall(deadline, call.context)
    const stopListening = call.onAbort(() => own.abort())
    const stopWatch = wheel.watch({
      deadline,
      expire: () => {
        stopListening()
        resolve(late)
        own.abort()
      },
    })
    const settled = () => {
      stopListening()
      stopWatch()
    }
    work(own).then(
      (result) => {
        settled()
        return resolve(result)
      },
      (fault: unknown) => {
        settled()
        reject(fault)
      },
    )
  })

/** Wraps a call in an Effect. An interruption aborts it, and waits until its work has ended. */
export const fromCall = <A, E>(work: (call: AbortableCall) => Promise<Result.Result<A, E>>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback<A, E>((resume) => {
      const call = new OwnCall(Number.POSITIVE_INFINITY, context)
      const ended = work(call).then(
        (result) => resume(Effect.fromResult(result)),
        (fault: unknown) => resume(Effect.die(fault)),
      )
      return Effect.suspend(() => {
        call.abort()
        return Effect.promise(() => ended)
      })
    }),
  )
