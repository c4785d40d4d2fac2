/**
 * A cursor: the place where a page ended, as text that clients hand back unchanged. It is opaque and versioned, and its
 * checksum covers the walk it belongs to, so that a cursor of another endpoint, another selection or another version is
 * refused and never read as a place of this one. It carries no secret and grants nothing.
 */
import { hash } from "node:crypto"

const VERSION = 1
const CHECKSUM_BYTES = 12

/** Longer ones would not fit into the first line of a request everywhere; none may be issued. */
export const LONGEST_CURSOR = 12_000

/** The walk that a cursor belongs to. */
export interface CursorWalk {
  /** What is walked: a cursor of one kind is never good for another. */
  readonly kind: "rows" | "feed"
  /** Everything else that a place depends on: the object, the selection, the types that are compared. */
  readonly scope: ReadonlyArray<unknown>
}

/** The values that name a place, as text; what they mean is the walk's own business. */
export type CursorPosition = ReadonlyArray<string | null>

const checksum = (walk: CursorWalk, position: string): Buffer => {
  const covered = JSON.stringify([VERSION, walk.kind, walk.scope, position])
  return hash("sha256", covered, "buffer").subarray(0, CHECKSUM_BYTES)
}

// The checksum is no secret: what it covers need not be of our making.
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The cursor of a place: URL-safe text without padding. */
export const encodeCursor = (walk: CursorWalk, position: CursorPosition): string => {
  const text = JSON.stringify(position)
  return Buffer.concat([Buffer.of(VERSION), checksum(walk, text), Buffer.from(text)]).toString("base64url")
}

/** The place that a cursor names in this walk; undefined for anything that this walk did not issue. */
export const decodeCursor = (walk: CursorWalk, cursor: string): CursorPosition | undefined => {
  if (cursor.length > LONGEST_CURSOR) return undefined
  const bytes = Buffer.from(cursor, "base64url")
  if (bytes.length <= 1 + CHECKSUM_BYTES || bytes[0] !== VERSION || bytes.toString("base64url") !== cursor) {
    return undefined
  }
  const text = bytes.toString("utf8", 1 + CHECKSUM_BYTES)
  if (!checksum(walk, text).equals(bytes.subarray(1, 1 + CHECKSUM_BYTES))) return undefined
  const position = parsed(text)
  return Array.isArray(position) && position.every((value) => value === null || typeof value === "string")
    ? position
    : undefined
}
