/**
 * Parses long bodies in pieces, one piece of one body at a time: the sender of a megabyte of JSON waits for its parsing,
 * and no other request does. Events are written in the same way, because a long query string makes the events of a short
 * body long too.
 *
 * Decision: docs/decisions/0026-long-events-are-handled-in-pieces.md
 */
import { bufferOf } from "../text/Charset.ts"
import { decodeJson, jsonCharset } from "../text/JsonCharset.ts"
import { parseContentType } from "../form/ContentType.ts"
import { beginsAsJson } from "../form/FormGuess.ts"
import { JsonLinesReading } from "./JsonLines.ts"
import { emptyJsonNotes, JsonReading } from "../json/ParseJson.ts"
import { type ReadSubmission, readSubmission } from "./ParseSubmission.ts"
import type { ParsedEvent, ParsedSubmission, SentJson, Submission } from "./Submission.ts"

/** The size of a long body, in bytes: a shorter one takes some milliseconds at most. */
export const LONG_BODY_BYTES = 65_536

/** The length of a long query string, in characters: every object of a batch gets all of its fields. */
export const LONG_QUERY_LENGTH = 2_048

/** Characters of one piece. */
const PIECE_LENGTH = 65_536

/** The parts of a body that are read before the submission. */
export type ReadAhead = Pick<Submission, "json" | "lines">

/** Parses a body as JSON, or as lines of JSON; null if its first attempt is neither. Each call parses a piece. */
export const jsonPieces = (submission: Submission): (() => ReadAhead | undefined) | null => {
  const { kind, charset } = parseContentType(submission.contentType)
  const body = bufferOf(submission.body)
  if (kind === "multipart" || (kind === "urlencoded" && !beginsAsJson(body))) return null
  if (kind === "lines") return linePieces(body, charset)
  let begun: { readonly reading: JsonReading; readonly read: Omit<SentJson, "parsed"> } | undefined
  return () => {
    if (begun === undefined) {
      const notes = emptyJsonNotes()
      const decoded = decodeJson(body, jsonCharset(body, charset))
      begun = { reading: new JsonReading(decoded.text, { notes }), read: { decoded, notes } }
    }
    const parsed = begun.reading.advance(PIECE_LENGTH)
    return parsed === undefined ? undefined : { json: { ...begun.read, parsed } }
  }
}

const linePieces = (body: Buffer, charset: string | null): (() => ReadAhead | undefined) => {
  let reading: JsonLinesReading | undefined
  return () => {
    reading ??= new JsonLinesReading(decodeJson(body, jsonCharset(body, charset)))
    const lines = reading.advance(PIECE_LENGTH)
    return lines === undefined ? undefined : { lines }
  }
}

/** Reads a submission whose body is not JSON, or has been parsed as JSON already. Each call writes a piece of its events. */
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
      if (written >= PIECE_LENGTH) return undefined
      write ??= writeEvent(objects[events.length]!, events.length)
      const event = write(PIECE_LENGTH)
      if (event === undefined) return undefined
      events.push(event)
      write = undefined
      written += event.text.length
    }
    return whole(events)
  }
}
