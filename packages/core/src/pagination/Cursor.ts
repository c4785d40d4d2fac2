/**
 * A cursor: the place where a page ended, as text that clients hand back unchanged. It is opaque, versioned and signed, and
 * the signature covers the walk it belongs to: a cursor of another cabinet, another endpoint, another selection or another
 * version is refused and never read as a place of this one, and nobody can make one up. It grants nothing.
 *
 * Bytes, in base64url without padding: the version, 16 bytes of the signature, and a JSON list of positions in UTF-8. There
 * is one position today; a cabinet that lies on several databases would have one in each.
 */
import { timingSafeEqual } from "node:crypto"
import type { CursorKey } from "./CursorKey.ts"

const VERSION = 2
const SIGNATURE_BYTES = 16
const HEAD = 1 + SIGNATURE_BYTES

/** Longer ones would not fit into the first line of a request everywhere; none may be issued. */
export const LONGEST_CURSOR = 12_000

/** The walk that a cursor belongs to. */
export interface CursorWalk {
  /** What is walked: a cursor of one kind is never good for another. */
  readonly kind: "rows" | "feed"
  /** Everything else that a place depends on: the object, the selection, the types that are compared. */
  readonly scope: ReadonlyArray<unknown>
  /** The cabinet's. */
  readonly key: CursorKey
}

/** The values that name a place, as text; what they mean is the walk's own business. */
export type CursorPosition = ReadonlyArray<string | null>

const signature = ({ kind, scope, key }: CursorWalk, positions: string): Buffer =>
  key.sign(JSON.stringify([VERSION, kind, scope, positions])).subarray(0, SIGNATURE_BYTES)

/** The cursor of a place: URL-safe text without padding. */
export const encodeCursor = (walk: CursorWalk, position: CursorPosition): string => {
  const text = JSON.stringify([position])
  return Buffer.concat([Buffer.of(VERSION), signature(walk, text), Buffer.from(text)]).toString("base64url")
}

/** The place that a cursor names in this walk; undefined for anything that this walk did not issue. */
export const decodeCursor = (walk: CursorWalk, cursor: string): CursorPosition | undefined => {
  if (cursor.length > LONGEST_CURSOR) return undefined
  const bytes = Buffer.from(cursor, "base64url")
  if (bytes.length <= HEAD || bytes[0] !== VERSION || bytes.toString("base64url") !== cursor) return undefined
  const text = bytes.toString("utf8", HEAD)
  if (!timingSafeEqual(signature(walk, text), bytes.subarray(1, HEAD))) return undefined
  // Of our own making, then. One that names places in more databases than this program knows of was not issued by it.
  const positions = JSON.parse(text) as ReadonlyArray<CursorPosition>
  return positions.length === 1 ? positions[0] : undefined
}
