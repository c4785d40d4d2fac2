/** The output of a file's reader: the items that become events, and what it refuses, each with its position. */
import type { JsonObject } from "../json/Json.ts"

/** One future event. `line` is where it begins, counted from 1; in a spreadsheet it is the row number. */
export interface FileItem {
  readonly line: number
  readonly payload: JsonObject
}

/**
 * Something that cannot become an event. `column` is the position of a character in the line, or the number of a cell in a
 * sheet.
 */
export interface Refusal {
  readonly line: number
  readonly column: number | null
  readonly reason: string
}

/** Receives the items and refusals of a file. */
export interface ItemSink {
  readonly item: (line: number, payload: JsonObject) => void
  readonly refuse: (refusal: Refusal) => void
  /** Called before an item in which an escape for U+0000 or half a surrogate pair became U+FFFD. */
  readonly replaced?: (line: number) => void
}

/** Receives a file's text in pieces. Nothing follows after `end`. */
export interface TextReader {
  readonly push: (text: string) => void
  readonly end: () => void
  /** Replaces `end` if that takes long: each step does a piece of the work. */
  readonly endInPieces?: () => Iterable<void>
}

/**
 * The maximum size of an item in characters, equal to intake's limit in bytes. A longer item is refused and reported by its
 * line.
 */
export const MAX_ITEM_LENGTH = 1_048_576

/** The refusal of an item that is too long. */
export const tooLong = (what: string): string => `${what} is longer than ${MAX_ITEM_LENGTH} characters`
