/**
 * A long body is read as JSON a piece at a time, and of all long bodies one piece at a time: whoever sends a megabyte of it
 * waits for that, and nobody else does.
 */
import { bufferOf, decode, UTF_8 } from "./Charset.ts"
import { parseContentType } from "./ContentType.ts"
import { emptyJsonNotes, JsonReading } from "./JsonBody.ts"
import type { SentJson, Submission } from "./Submission.ts"

/** Bytes of a body from which on it is long: a shorter one takes some milliseconds at the most. */
export const LONG_BODY = 65_536

/** Characters of one piece. */
const PIECE = 65_536

/** The reading of a body as JSON; null where it would not be read as such first. Each call reads a piece. */
export const jsonPieces = (submission: Submission): (() => SentJson | undefined) | null => {
  const { kind } = parseContentType(submission.contentType)
  const body = bufferOf(submission.body)
  if (kind === "multipart" || (kind === "urlencoded" && body[0] !== 123)) return null
  let begun: { readonly reading: JsonReading; readonly read: Omit<SentJson, "parsed"> } | undefined
  return () => {
    if (begun === undefined) {
      const notes = emptyJsonNotes()
      const decoded = decode(body, UTF_8)
      begun = { reading: new JsonReading(decoded.text, { notes }), read: { decoded, notes } }
    }
    const parsed = begun.reading.advance(PIECE)
    return parsed === undefined ? undefined : { ...begun.read, parsed }
  }
}

/** Takes turns: each step of a work, until it says that it is done, and between two steps whatever else there is to do. */
export const inTurns = (later: (step: () => void) => void): ((work: () => boolean) => void) => {
  let waiting: Array<() => boolean> = []
  let next = 0
  const step = () => {
    const work = waiting[next]!
    if (work()) waiting.splice(next, 1)
    else next++
    if (next >= waiting.length) next = 0
    if (waiting.length > 0) later(step)
    else waiting = []
  }
  return (work) => {
    if (waiting.push(work) === 1) later(step)
  }
}
