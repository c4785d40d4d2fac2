/**
 * Splits long work on sent data into pieces, interleaved with other work: all requests of a server share one thread.
 */
import { Effect, Stream } from "effect"

/** The size of one piece in bytes or characters: some milliseconds of work. */
const PIECE_SIZE = 65_536

/** Streams bytes that are in memory already in pieces. */
export const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> => {
  const starts = Array.from({ length: Math.ceil(bytes.length / PIECE_SIZE) }, (_, n) => n * PIECE_SIZE)
  return Stream.mapEffect(Stream.fromIterable(starts, { chunkSize: 1 }), (from) =>
    Effect.map(Effect.yieldNow, () => bytes.subarray(from, from + PIECE_SIZE)),
  )
}

/**
 * Returns a function to be called with the number of characters processed; it yields to other work when they amount to a
 * piece.
 */
export const turns = (): ((characters: number) => Effect.Effect<void>) => {
  let done = 0
  return (characters) => {
    done += characters
    if (done < PIECE_SIZE) return Effect.void
    done = 0
    return Effect.yieldNow
  }
}
