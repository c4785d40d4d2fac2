/** Runs work that yields between its steps, in pieces of a few milliseconds, in turn with the work of other requests. */
import type { Deadline } from "./Deadline.ts"
import { inTurns } from "./InTurns.ts"
import type { TimerWheel } from "./TimerWheel.ts"

/** The time after which unfinished work is given up. */
export interface TimeLimit {
  readonly deadline: Deadline
  readonly wheel: Pick<TimerWheel, "watch">
}

/** How long one piece takes. */
const PIECE_MILLIS = 5

/** Each call does a piece of the work; undefined until it is done. */
export const piecesOf =
  <A>(work: Generator<void, A>): (() => A | undefined) =>
  () => {
    const until = performance.now() + PIECE_MILLIS
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (performance.now() < until)
    return undefined
  }

const takeTurns = inTurns(setImmediate)

/** Runs the pieces after the first. Undefined if `isOver` ends them first. */
export const laterPieces = <A>(
  piece: () => A | undefined,
  isOver: () => boolean = () => false,
): Promise<A | undefined> =>
  new Promise((resolve, reject) => {
    takeTurns(() => {
      try {
        const done = isOver() ? undefined : piece()
        if (done === undefined && !isOver()) return false
        resolve(done)
      } catch (fault) {
        reject(fault)
      }
      return true
    }, "")
  })

/** Runs work, nearly always in one piece and synchronously. Undefined if the deadline passes first. */
export const inTime = <A>(work: Generator<void, A>, { deadline, wheel }: TimeLimit): A | Promise<A | undefined> => {
  const piece = piecesOf(work)
  const done = piece()
  if (done !== undefined) return done
  let isOver = false
  const stopWatch = wheel.watch({ deadline, expire: () => (isOver = true) })
  return laterPieces(piece, () => isOver).finally(stopWatch)
}

/** Runs work without a deadline. */
export const untilDone = async <A>(work: Generator<void, A>): Promise<A> => {
  const piece = piecesOf(work)
  return piece() ?? (await laterPieces(piece))!
}
