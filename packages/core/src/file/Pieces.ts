/**
 * Long work on what somebody sent is done in pieces, between which others have their turn: all of a server's requests share
 * one thread.
 */
import { Effect, Stream } from "effect"

/** Bytes or characters of one piece: some milliseconds of work. */
const PIECE = 65_536

/** Bytes that are there already, as if they came one piece after the other. */
export const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> => {
  const starts = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, n) => n * PIECE)
  return Stream.mapEffect(Stream.fromIterable(starts, { chunkSize: 1 }), (from) =>
    Effect.map(Effect.yieldNow, () => bytes.subarray(from, from + PIECE)),
  )
}

/** Told of the work that was done, by its characters; gives others their turn when it was enough. */
export const turns = (): ((characters: number) => Effect.Effect<void>) => {
  let done = 0
  return (characters) => {
    done += characters
    if (done < PIECE) return Effect.void
    done = 0
    return Effect.yieldNow
  }
}
