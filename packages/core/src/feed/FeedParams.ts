/**
 * The event feed's parameters: turns the pairs of a query string, in their order, into a query for the store. Fails for
 * unknown names first, then for every malformed value; whether a source exists is not checked here.
 */
import { Effect } from "effect"
import { type Channel, CHANNELS } from "../event/EventLog.ts"
import { type CursorPosition, type CursorWalk, decodeCursor, encodeCursor } from "../pagination/Cursor.ts"
import type { CursorKey } from "../pagination/CursorKey.ts"
import { DEFAULT_LIMIT, LIMIT_EXPECTED, parseLimit } from "../pagination/Page.ts"
import { parseSourceId } from "../source/SourceId.ts"
import { FeedError } from "./FeedError.ts"
import { FEED_START, type FeedPlace, type FeedPosition, KEPT_EPOCHS } from "./FeedStore.ts"
import { isTrail } from "./FeedTrail.ts"

/** Every parameter of the feed; each may occur once. */
export const FEED_PARAMS = ["source_id", "channel", "limit", "cursor"] as const

/** The name of a parameter. */
export type FeedParam = (typeof FEED_PARAMS)[number]

/** The parsed request; its cursor was verified for exactly this walk and decoded. */
export interface FeedRequest {
  /** `"unknown"`: well formed, but beyond every id that a source can have. */
  readonly sourceId: number | "unknown" | null
  readonly channel: Channel | null
  readonly limit: number
  readonly after: FeedPosition
  /** The cursor that `after` was read from. */
  readonly cursor: string | undefined
  /** For a cursor of a client's follower: how often it had been reset when the cursor was issued. */
  readonly resets: number | undefined
}

const CODE_OF = {
  source_id: "bad_source_id",
  channel: "bad_channel",
  limit: "bad_limit",
  cursor: "bad_cursor",
} as const satisfies Record<FeedParam, FeedError["code"]>

const refuse = (param: FeedParam, message: string) =>
  Effect.fail(new FeedError({ code: CODE_OF[param], message, param }))

const isFeedParam = (name: string): name is FeedParam => (FEED_PARAMS as ReadonlyArray<string>).includes(name)

/** `key` is the cabinet's key for signing cursors. */
export const feedParams = (
  key: CursorKey,
  pairs: ReadonlyArray<readonly [name: string, value: string]>,
): Effect.Effect<FeedRequest, FeedError> => {
  for (const [name] of pairs) {
    if (!isFeedParam(name)) {
      const message = `The feed has no parameter ${JSON.stringify(name)}. It has ${FEED_PARAMS.join(", ")}.`
      return Effect.fail(new FeedError({ code: "unknown_param", message, param: name }))
    }
  }
  for (const name of FEED_PARAMS) {
    if (pairs.filter(([other]) => other === name).length > 1) return refuse(name, `${name} may be sent only once.`)
  }
  const sent = Object.fromEntries(pairs) as { readonly [name in FeedParam]?: string }
  const sourceId = sent.source_id === undefined ? null : parseSourceId(sent.source_id)
  if (sourceId === "malformed") return refuse("source_id", "source_id must be a positive integer.")
  const channel = sent.channel === undefined ? null : CHANNELS.find((known) => known === sent.channel)
  if (channel === undefined) return refuse("channel", `channel must be one of ${CHANNELS.join(", ")}.`)
  const limit = sent.limit === undefined ? DEFAULT_LIMIT : parseLimit(sent.limit)
  if (limit === undefined) return refuse("limit", `${LIMIT_EXPECTED}.`)
  const read =
    sent.cursor === undefined ? { position: FEED_START } : readCursor(key, { sourceId, channel }, sent.cursor)
  if (read === undefined) {
    return refuse(
      "cursor",
      "cursor must be a next_cursor of this feed, unchanged, with the same source_id and channel it was issued for.",
    )
  }
  const { position: after, resets } = read
  return Effect.succeed({ sourceId, channel, limit, after, cursor: sent.cursor, resets })
}

type Filter = Pick<FeedRequest, "sourceId" | "channel">

const walk = (key: CursorKey, { sourceId, channel }: Filter): CursorWalk => ({
  kind: "feed",
  scope: [sourceId, channel],
  key,
})

const START = 0n

const written = ({ epoch, xid, id, receivedAt = START }: FeedPlace): ReadonlyArray<string> => [
  String(epoch),
  String(xid),
  String(id),
  String(receivedAt),
]

const PARTS = 4
/** These follow the places if there is a trail: the number of events since its latest place, and its text. */
const TRAIL_PARTS = 2

const partsOf = ({ left = [], trail, ...place }: FeedPosition): ReadonlyArray<string> => {
  const places = left.length === 0 ? written(place) : [place, ...left].flatMap(written)
  return trail === undefined ? places : [...places, String(trail.since), trail.places]
}

/**
 * Creates the cursor of a position; valid for the same source and channel only. The cursor of a client's follower has the
 * number of its resets, and is otherwise like any other.
 */
export const writeCursor = (key: CursorKey, filter: Filter, position: FeedPosition, resets?: number): string => {
  const parts = partsOf(position)
  return encodeCursor(walk(key, filter), resets === undefined ? parts : [...parts, String(resets)])
}

/**
 * A position as text, with everything that a cursor contains. It is unsigned, and only for the cabinet's own tables.
 */
export const writePosition = (position: FeedPosition): string => JSON.stringify(partsOf(position))

/** Reads the text of `writePosition`; undefined for any other. */
export const parsePosition = (text: string): FeedPosition | undefined =>
  readPosition(JSON.parse(text) as CursorPosition)?.position

interface ReadPosition {
  readonly position: FeedPosition
  readonly resets?: number | undefined
}

const readCursor = (key: CursorKey, filter: Filter, cursor: string): ReadPosition | undefined => {
  const position = decodeCursor(walk(key, filter), cursor)
  return position === undefined ? undefined : readPosition(position)
}

/** A cursor of another version may hold more or other values: values out of range must never reach the database. */
const readPosition = (parts: CursorPosition): ReadPosition | undefined => {
  const hasResets = parts.length % 2 === 1
  if (!hasResets) return ofPosition(readPlaces(parts))
  const resets = parts.at(-1) ?? ""
  return /^[0-9]{1,15}$/.test(resets) ? ofPosition(readPlaces(parts.slice(0, -1)), Number(resets)) : undefined
}

const ofPosition = (position: FeedPosition | undefined, resets?: number): ReadPosition | undefined =>
  position === undefined ? undefined : { position, resets }

const readPlaces = (position: CursorPosition): FeedPosition | undefined => {
  const rest = position.length % PARTS
  const count = (position.length - rest) / PARTS
  if ((rest !== 0 && rest !== TRAIL_PARTS) || count < 1 || count > 1 + KEPT_EPOCHS) return undefined
  const places: Array<FeedPlace> = []
  for (let index = 0; index < count; index++) {
    const place = readPlace(position.slice(index * PARTS, (index + 1) * PARTS))
    if (place === undefined) return undefined
    places.push(place)
  }
  const [first, ...left] = places as [FeedPlace, ...Array<FeedPlace>]
  const read = left.length === 0 ? first : { ...first, left }
  if (rest === 0) return read
  const [since, trail] = position.slice(-TRAIL_PARTS) as [string | null, string | null]
  if (since === null || trail === null || !isTrail(since, trail)) return undefined
  return { ...read, trail: { since: Number(since), places: trail } }
}

const LONG = 2n ** 63n

const readPlace = (parts: CursorPosition): FeedPlace | undefined => {
  if (!parts.every((part): part is string => part !== null && /^-?[0-9]{1,19}$/.test(part))) return undefined
  const [epoch, xid, id, receivedAt] = parts.map(BigInt) as [bigint, bigint, bigint, bigint]
  const place = { epoch: Number(epoch), xid, id: Number(id) }
  if (!Number.isSafeInteger(place.epoch) || !Number.isSafeInteger(place.id)) return undefined
  if (place.epoch < 0 || place.id < 0 || xid < 0n || xid >= LONG) return undefined
  // A clock that is not set may be before the year 2000.
  if (receivedAt < -LONG || receivedAt >= LONG) return undefined
  return receivedAt === START ? place : { ...place, receivedAt }
}
