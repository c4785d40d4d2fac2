/** The body of an answer as a stream that is bounded: in bytes, in what waits to be taken, and in time between pieces. */
import { type Cause, Deferred, Effect, Queue, Stream } from "effect"
import type { Exchange, Sink } from "./Exchange.ts"
import { OutgoingError } from "./OutgoingError.ts"

/** The sender is held while so much waits to be taken. */
const HELD_BYTES = 1_048_576

const broken = (code: OutgoingError["code"], message: string, peer: string | null = null) =>
  new OutgoingError({ code, message, peer })

/** A sink for an exchange, and, once there is one, its body. */
export const makeBodyStream = Effect.fnUntraced(function* (maxBytes: number, pieceMillis: number) {
  const pieces = yield* Queue.unbounded<Uint8Array, OutgoingError | Cause.Done>()
  let held = 0
  let total = 0
  let running: Exchange | null = null
  const sink: Sink = (chunk) => {
    total += chunk.length
    if (total > maxBytes) return false
    held += chunk.length
    // The parser uses its buffer again.
    Queue.offerUnsafe(pieces, new Uint8Array(chunk))
    if (held > HELD_BYTES) running?.pause()
    return true
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
  const of = Effect.fnUntraced(function* (exchange: Exchange) {
    running = exchange
    yield* Effect.matchEffect(Deferred.await(exchange.end), {
      onFailure: (error) => Queue.fail(pieces, error),
      onSuccess: (whole) =>
        whole
          ? Queue.end(pieces)
          : Queue.fail(pieces, broken("bad_answer", `the answer is longer than ${maxBytes} bytes`)),
    }).pipe(Effect.forkScoped)
    return Stream.fromEffectRepeat(next)
  })
  return { sink, of }
})
