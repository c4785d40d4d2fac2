/**
 * A long body is read as JSON a piece at a time, and of all long bodies one piece at a time: whoever sends a megabyte of it
 * waits for that, and nobody else does. So are the events written, of which a long query makes a short body's long as well.
 */
import { bufferOf, decode, UTF_8 } from "../text/Charset.ts"
import { parseContentType } from "./ContentType.ts"
import { emptyJsonNotes, JsonReading } from "../json/ParseJson.ts"
import { type ReadSubmission, readSubmission } from "./ParseSubmission.ts"
import type { ParsedEvent, ParsedSubmission, SentJson, Submission } from "./Submission.ts"

/** Bytes of a body from which on it is long: a shorter one takes some milliseconds at the most. */
export const LONG_BODY = 65_536

/** Characters of an address's query from which on it is long: each object of a batch has all of its fields. */
export const LONG_QUERY = 2_048

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

/** The reading of a submission whose body is no JSON, or was read as such. Each call writes a piece of its events. */
export const submissionPieces = (submission: Submission): (() => ParsedSubmission | undefined) => {
  let read: ReadSubmission | undefined
  let write: ((characters: number) => ParsedEvent | undefined) | undefined
  const events: Array<ParsedEvent> = []
  return () => {
    if (read === undefined) {
      read = readSubmission(submission)
      return undefined
    }
    const { objects, writeEvent, whole } = read
    for (let written = 0; events.length < objects.length;) {
      if (written >= PIECE) return undefined
      write ??= writeEvent(objects[events.length]!, events.length)
      const event = write(PIECE)
      if (event === undefined) return undefined
      events.push(event)
      write = undefined
      written += event.text.length
    }
    return whole(events)
  }
}

/** Of so many works each has a step in turn; what a body is read into takes many times its bytes. */
const AT_ONCE = 4

/** Does a step of its work; true once that was the last. */
export type Work = () => boolean

/**
 * Takes turns: each step of a work, until it says that it is done, and between two steps whatever else there is to do. A few
 * works are under way at once. The others wait, one line for each name, and of the lines each is served in turn.
 */
export const inTurns = (
  later: (step: () => void) => void,
  atOnce: number = AT_ONCE,
): ((work: Work, whose: string) => void) => {
  const active: Array<Work> = []
  const lines = new Map<string, Array<Work>>()
  let next = 0
  const fromLine = (): Work | undefined => {
    const [first] = lines
    if (first === undefined) return undefined
    const [whose, line] = first
    const work = line.shift()
    lines.delete(whose)
    if (line.length > 0) lines.set(whose, line)
    return work
  }
  const step = () => {
    const work = active[next]!
    let isDone = true
    try {
      isDone = work()
    } finally {
      // A work that throws is over: the others go on all the same.
      if (isDone) {
        active.splice(next, 1)
        const waiting = fromLine()
        if (waiting !== undefined) active.push(waiting)
      } else next++
      if (next >= active.length) next = 0
      if (active.length > 0) later(step)
    }
  }
  return (work, whose) => {
    if (active.length < atOnce) {
      if (active.push(work) === 1) later(step)
      return
    }
    const line = lines.get(whose)
    if (line === undefined) lines.set(whose, [work])
    else line.push(work)
  }
}
