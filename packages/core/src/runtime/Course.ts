/**
 * Work in plain calls, one after the other, that has one outcome. A fiber takes a handful of steps of its own for each of the
 * work's; for what every request does, and hardly ever has to wait for, they cost more than the work. What fibers promise
 * is kept: one outcome, told once; a fault is an outcome; what was given up does nothing more.
 */
import { type Context, Effect, Exit } from "effect"

export type Answer<A, E> = (outcome: Exit.Exit<A, E>) => void

/**
 * A question that is answered at once or later, and how to give it up; then it need not be answered any more. Answers after
 * the first count for nothing. The context is that of whoever wants to know.
 */
export type Ask<A, E> = (answer: Answer<A, E>, context: Context.Context<never>) => () => void

const nothing = (): void => {}

export class Course<A, E> {
  readonly #context: Context.Context<never>
  readonly #answer: Answer<A, E>
  #giveUp = nothing
  /** Of the question that is open: answers to any other come too late. */
  #question = 0
  #over = false

  /** `answer` must not throw. */
  constructor(answer: Answer<A, E>, context: Context.Context<never>) {
    this.#answer = answer
    this.#context = context
  }

  /** Goes on once there is an answer. A failure is the outcome of all. */
  ask<B>(question: Ask<B, E>, next: (value: B) => void): void {
    this.settle(question, (answer) =>
      Exit.isSuccess(answer) ? next(answer.value) : this.end(Exit.failCause(answer.cause)),
    )
  }

  /** The same with an Effect. */
  run<B>(work: Effect.Effect<B, E>, next: (value: B) => void): void {
    this.ask(running(work), next)
  }

  /** Goes on once there is an answer, a failure too. */
  settle<B, E2>(question: Ask<B, E2>, next: (answer: Exit.Exit<B, E2>) => void): void {
    if (this.#over) return
    const asked = ++this.#question
    const giveUp = question((answer) => {
      if (this.#over || asked !== this.#question) return
      this.#question++
      this.#giveUp = nothing
      this.step(() => next(answer))
    }, this.#context)
    if (asked === this.#question) this.#giveUp = giveUp
  }

  /** Does it now; what it throws is a fault, and the outcome of all. */
  step(work: () => void): void {
    try {
      work()
    } catch (fault) {
      this.end(Exit.die(fault))
    }
  }

  /** Tells the outcome, and gives up what is still asked. */
  end(outcome: Exit.Exit<A, E>): void {
    if (this.#over) return
    this.giveUp()
    this.#answer(outcome)
  }

  /** Nobody wants the outcome any more: none is told. */
  giveUp(): void {
    this.#over = true
    const giveUp = this.#giveUp
    this.#giveUp = nothing
    giveUp()
  }
}

/** What is known of work without doing any: `Effect.succeed` and `Effect.fail` are exits. */
export const known = <A, E>(work: Effect.Effect<A, E>): Exit.Exit<A, E> | undefined =>
  Exit.isExit(work) ? (work as Exit.Exit<A, E>) : undefined

/** An Effect as a question. What is known needs no fiber. */
export const running =
  <A, E>(work: Effect.Effect<A, E>): Ask<A, E> =>
  (answer, context) => {
    const exit = known(work)
    if (exit !== undefined) {
      answer(exit)
      return nothing
    }
    const fiber = Effect.runForkWith(context)(work)
    fiber.addObserver(answer)
    return () => fiber.interruptUnsafe()
  }

/** A question as an Effect. */
export const asked = <A, E>(question: Ask<A, E>): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.callback((resume) => Effect.sync(question(resume, context))),
  )

/** Like `Effect.flatMap`, but what is known is gone on with at once: then the whole may be known, too. */
export const thenAtOnce = <A, E, B, E2>(
  first: Effect.Effect<A, E>,
  next: (value: A) => Effect.Effect<B, E2>,
): Effect.Effect<B, E | E2> => {
  const exit = known(first)
  if (exit === undefined) return Effect.flatMap(first, next)
  return Exit.isSuccess(exit) ? next(exit.value) : Exit.failCause(exit.cause)
}
