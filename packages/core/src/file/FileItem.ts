/** What a file's reader gives: items that are to be events, and what it refuses, each by its place. */
import type { JsonObject } from "../json/Json.ts"

/** One event's worth. `line` is where it begins, counted from 1; in a sheet it is the row's number. */
export interface FileItem {
  readonly line: number
  readonly payload: JsonObject
}

/** Something that is no event. `column` is a character's place in the line, or a cell's number in a sheet. */
export interface Refusal {
  readonly line: number
  readonly column: number | null
  readonly reason: string
}

export interface ItemSink {
  readonly item: (line: number, payload: JsonObject) => void
  readonly refuse: (refusal: Refusal) => void
}

/** Takes a file's text piece by piece. After `end` nothing follows. */
export interface TextReader {
  readonly push: (text: string) => void
  readonly end: () => void
  /** Instead of `end`, where that is long work: a piece of it at each step. */
  readonly endInPieces?: () => Iterable<void>
}

/** Characters of one item: as many as intake takes bytes. What is longer is refused by its line. */
export const MAX_ITEM = 1_048_576

export const tooLong = (what: string): string => `${what} is longer than ${MAX_ITEM} characters`
