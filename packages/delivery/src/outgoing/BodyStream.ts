/** The body of an answer as a stream that is bounded: in bytes, in what waits to be taken, and in time between pieces. */
import { Cause, Deferred, Effect, Queue, Stream } from "effect"
import type { AnswerHead, Exchange, ExchangeListener } from "./Exchange.ts"
import { OutgoingError } from "./OutgoingError.ts"

/** The sender is held while so much waits to be taken. */
const HELD_BYTES = 1_048_576

const broken = (code: OutgoingError["code"], message: string) => new OutgoingError({ code, message, peer: null })

/** A listener for an exchange; the head that it waits for; and, once there is one, the body of that exchange. */
export const makeBodyStream = Effect.fnUntraced(function* (maxBytes: number, pieceMillis: number) {
  const pieces = yield* Queue.unbounded<Uint8Array, OutgoingError | Cause.Done>()
  const head = yield* Deferred.make<AnswerHead, OutgoingError>()
  let held = 0
  let total = 0
  let running: Exchange | null = null
  const listener: ExchangeListener = {
    head: (seen) => void Deferred.doneUnsafe(head, Effect.succeed(seen)),
    piece: (piece) => {
      total += piece.length
      if (total > maxBytes) return false
      held += piece.length
      // The parser uses its buffer again.
      Queue.offerUnsafe(pieces, new Uint8Array(piece))
      if (held > HELD_BYTES) running?.pause()
      return true
    },
    end: (whole) => {
      if (whole) Queue.endUnsafe(pieces)
      else
        Queue.failCauseUnsafe(pieces, Cause.fail(broken("bad_answer", `the answer is longer than ${maxBytes} bytes`)))
    },
    fail: (error) => {
      Deferred.doneUnsafe(head, Effect.fail(error))
      Queue.failCauseUnsafe(pieces, Cause.fail(error))
    },
  }
  const next = Queue.take(pieces).pipe(
    Effect.timeoutOrElse({
      duration: pieceMillis,
      orElse: () => Effect.fail(broken("timeout", `the answer stood still for ${pieceMillis / 1000} s`)),
    }),
    Effect.tap((piece) =>
      Effect.sync(() => {
        held -= piece.length
        if (held <= HELD_BYTES) running?.resume()
      }),
    ),
  )
  const of = (exchange: Exchange) => {
    running = exchange
    return Stream.fromEffectRepeat(next)
  }
  return { listener, head: Deferred.await(head), of }
})
