/**
 * A cursor: the place where a page ended, as text that clients pass back unchanged. It is opaque, versioned and signed,
 * and cannot be forged. The signature covers its walk: a cursor of another cabinet, endpoint, selection or version is
 * refused, and never read as a place in this walk. It grants no access.
 *
 * Format, in base64url without padding: the version, 16 bytes of the signature, and a JSON list of positions in UTF-8.
 * There is one position today; a cabinet spread over several databases would have one for each.
 *
 * Decision: docs/decisions/0036-cursors-are-signed.md
 */
import { timingSafeEqual } from "node:crypto"
import type { CursorKey } from "./CursorKey.ts"

const VERSION = 2
const SIGNATURE_BYTES = 16
const HEAD_BYTES = 1 + SIGNATURE_BYTES

/** Longer cursors would not fit into every request line, so none may be issued. */
export const MAX_CURSOR_LENGTH = 12_000

/** The walk that a cursor belongs to. */
export interface CursorWalk {
  /** The kind of list: a cursor of one kind is never valid for another. */
  readonly kind: "rows" | "feed" | "events" | "deliveries" | "verification" | "reread"
  /** Everything else that a place depends on: the object, the selection, the types of the compared values. */
  readonly scope: ReadonlyArray<unknown>
  /** The cabinet's key. */
  readonly key: CursorKey
}

/** The values that define a place, as text; their meaning is up to the walk. */
export type CursorPosition = ReadonlyArray<string | null>

const signature = ({ kind, scope, key }: CursorWalk, positions: string): Buffer =>
  key.sign(JSON.stringify([VERSION, kind, scope, positions])).subarray(0, SIGNATURE_BYTES)

/** Encodes a place as a cursor: URL-safe text without padding. */
export const encodeCursor = (walk: CursorWalk, position: CursorPosition): string => {
  const text = JSON.stringify([position])
  return Buffer.concat([Buffer.of(VERSION), signature(walk, text), Buffer.from(text)]).toString("base64url")
}

/** Returns the place of a cursor in this walk; undefined for anything that this walk did not issue. */
export const decodeCursor = (walk: CursorWalk, cursor: string): CursorPosition | undefined => {
  if (cursor.length > MAX_CURSOR_LENGTH) return undefined
  const bytes = Buffer.from(cursor, "base64url")
  if (bytes.length <= HEAD_BYTES || bytes[0] !== VERSION || bytes.toString("base64url") !== cursor) return undefined
  const text = bytes.toString("utf8", HEAD_BYTES)
  if (!timingSafeEqual(signature(walk, text), bytes.subarray(1, HEAD_BYTES))) return undefined
  // The signature is ours. A cursor with places in more databases than this version knows was not issued by it.
  const positions = JSON.parse(text) as ReadonlyArray<CursorPosition>
  return positions.length === 1 ? positions[0] : undefined
}
