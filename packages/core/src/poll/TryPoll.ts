/**
 * Tries one request of a poll and stores nothing: returns the server's response, and the items that a run would accept.
 * The request has no validators of an earlier response, so that something is shown even if nothing is new.
 */
import { Clock, Effect, Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { jsonText } from "../json/JsonText.ts"
import { parseJson } from "../json/ParseJson.ts"
import type { PollTrial } from "./Poll.ts"
import { type PollFetch, type PollResponse, UNREADABLE_HEADERS } from "./PollFetch.ts"
import { type PollItem, PollItems, type PollReading, keyValue } from "./PollItems.ts"
import type { PollStore } from "./PollStore.ts"
import type { ArchiveReading } from "../file/ReadableFile.ts"

/** Covers the request and its reading, because a person waits for it. */
const TRIAL_SECONDS = 30

/** The most items shown. */
const SHOWN = 5

/** The most characters shown of an item, or of a response without items. */
const SHOWN_CHARS = 10_000
const BEGINNING_CHARS = 1_000

/** The poll to try. */
export interface TriedPoll extends PollReading {
  /** Null for a poll that is not added yet: all its items are new. */
  readonly id: number | null
  /** Null if the key that encrypts them is unavailable. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]> | null
  /** Whether the items of the next run would be history. */
  readonly history: boolean
}

interface Ports {
  readonly fetch: PollFetch["Service"]["fetch"]
  readonly unseen: PollStore["Service"]["unseen"]
  readonly archives: ArchiveReading
}

export const tryPoll = (ports: Ports, poll: TriedPoll): Effect.Effect<PollTrial, StoreUnavailable> =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const { url, headers, history, pointer, keyField } = poll
    const late: PollResponse = { ...NO_RESPONSE, failure: `the response was not read within ${TRIAL_SECONDS} s` }
    let met: PollResponse = late
    const read = Effect.gen(function* () {
      if (headers === null) met = { ...NO_RESPONSE, failure: UNREADABLE_HEADERS }
      else met = yield* ports.fetch({ url, headers, etag: null, lastModified: null })
      return yield* readTrial(ports, poll, met)
    })
    const found = yield* Effect.timeoutOrElse(read, {
      duration: TRIAL_SECONDS * 1000,
      orElse: () => Effect.succeed({ ...NOTHING_READ, failure: late.failure }),
    })
    const { status, peer, contentType, etag, lastModified, body } = met
    const durationMs = (yield* Clock.currentTimeMillis) - started
    const bytes = body?.length ?? 0
    return { status, peer, contentType, etag, lastModified, durationMs, bytes, pointer, keyField, history, ...found }
  })

const NO_RESPONSE: PollResponse = {
  status: null,
  peer: null,
  failure: null,
  body: null,
  contentType: null,
  etag: null,
  lastModified: null,
  retryAfter: null,
}

type Found = Pick<PollTrial, "failure" | "format" | "encoding" | "items" | "fresh" | "doubts" | "preview" | "beginning">

const NOTHING_READ: Found = {
  failure: null,
  format: null,
  encoding: null,
  items: 0,
  fresh: 0,
  doubts: [],
  preview: [],
  beginning: null,
}

const readTrial = (ports: Ports, poll: TriedPoll, { failure, body, contentType }: PollResponse) => {
  if (failure !== null || body === null) return Effect.succeed<Found>({ ...NOTHING_READ, failure })
  const items = new PollItems(poll, ports.archives)
  const preview: Array<PollTrial["preview"][number]> = []
  let fresh = 0
  const add = Effect.fnUntraced(function* (some: ReadonlyArray<PollItem>) {
    const keys = some.map(({ key }) => key)
    const unseen = poll.id === null ? keys.map(() => true) : yield* ports.unseen(poll.id, keys)
    for (const [n, { payload }] of some.entries()) {
      const isFresh = unseen[n] === true
      if (isFresh) fresh++
      if (preview.length < SHOWN) preview.push({ ...shown(payload, poll.keyField), fresh: isFresh })
    }
  })
  return Effect.scoped(items.read(body, contentType, add)).pipe(
    Effect.map(({ format, charset }): Found => {
      const encoding = charset?.name ?? null
      return { ...NOTHING_READ, format, encoding, items: items.count, fresh, doubts: items.doubts, preview }
    }),
    Effect.catchTag("FileError", ({ message }) => {
      const beginning = new TextDecoder().decode(body.subarray(0, 4 * BEGINNING_CHARS)).slice(0, BEGINNING_CHARS)
      return Effect.succeed<Found>({ ...NOTHING_READ, failure: message, beginning })
    }),
  )
}

/** An item's text and its key. */
const shown = (payload: string, keyField: string | null) => {
  const item = Result.getOrThrow(parseJson(payload))
  const value = item instanceof Map ? keyValue(item, keyField) : null
  return {
    payload: payload.slice(0, SHOWN_CHARS),
    whole: payload.length <= SHOWN_CHARS,
    key: value === null ? null : jsonText(value).slice(0, BEGINNING_CHARS),
  }
}
