/**
 * The body of a response as a bounded stream: in bytes, in unread data, and in time between pieces. Each element is
 * everything received since the last read, so that a sender of single bytes costs its bytes and not an object for each.
 */
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import { Cause, Deferred, Effect, Latch, Stream } from "effect"
import type { ResponseHead, Exchange, ExchangeListener } from "./Exchange.ts"
import { OutgoingError } from "./OutgoingError.ts"

/** The sender is paused while this much is unread. */
const HELD_BYTES = 1_048_576

const broken = (code: OutgoingError["code"], message: string) => new OutgoingError({ code, message, peer: null })

/** Creates a listener for an exchange, the head it waits for and, once that has arrived, the body of that exchange. */
export const makeBodyStream = Effect.fnUntraced(function* (maxBytes: number, pieceMillis: number) {
  const head = yield* Deferred.make<ResponseHead, OutgoingError>()
  /** Open while there is something to read, or nothing more to wait for. */
  const arrived = Latch.makeUnsafe(false)
  let held = new ChunkBuffer()
  let total = 0
  let ended: Effect.Effect<never, OutgoingError | Cause.Done> | null = null
  let running: Exchange | null = null
  const end = (how: Effect.Effect<never, OutgoingError | Cause.Done>) => {
    ended ??= how
    arrived.openUnsafe()
  }
  const listener: ExchangeListener = {
    head: (seen) => void Deferred.doneUnsafe(head, Effect.succeed(seen)),
    piece: (piece) => {
      total += piece.length
      if (total > maxBytes) return false
      // The parser reuses its buffer.
      held.add(new Uint8Array(piece))
      if (held.length > HELD_BYTES) running?.pause()
      arrived.openUnsafe()
      return true
    },
    end: (whole) =>
      end(whole ? Cause.done() : Effect.fail(broken("bad_response", `the response is longer than ${maxBytes} bytes`))),
    fail: (error) => {
      Deferred.doneUnsafe(head, Effect.fail(error))
      end(Effect.fail(error))
    },
  }
  const take = Effect.suspend((): Effect.Effect<Uint8Array, OutgoingError | Cause.Done> => {
    if (held.length === 0) return ended ?? Effect.die(new Error("The response has no data and has not ended."))
    const bytes = held.bytes()
    held = new ChunkBuffer()
    if (ended === null) arrived.closeUnsafe()
    running?.resume()
    return Effect.succeed(bytes)
  })
  const next = arrived.await.pipe(
    Effect.timeoutOrElse({
      duration: pieceMillis,
      orElse: () => Effect.fail(broken("timeout", `the response stalled: nothing arrived for ${pieceMillis / 1000} s`)),
    }),
    // A latch wakes its waiter at once, in the middle of a chunk that the parser is reading: yielding lets the rest
    // arrive with it.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(take),
  )
  const of = (exchange: Exchange) => {
    running = exchange
    return Stream.fromEffectRepeat(next)
  }
  return { listener, head: Deferred.await(head), of }
})
