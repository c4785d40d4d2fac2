/**
 * Reads the original requests of stored events again, in a charset that an operator names, and corrects the events and their
 * rows. An event keeps its number and its place in the feed. Reading it again in the same charset changes nothing.
 *
 * Decision: docs/decisions/0081-events-are-read-again-in-place.md
 */
import { Context, Effect, Layer, Option } from "effect"
import { DeliverySignal } from "../delivery/DeliverySignal.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { RereadAs } from "./RereadOriginal.ts"
import type { CursorWalk } from "../pagination/Cursor.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { Sources } from "../source/Sources.ts"
import { CHARSET_NAMES, charsetOf } from "../text/Charset.ts"
import { noSuchEvent } from "../error/NoSuchEvent.ts"
import { originalPage } from "../event/OriginalSlice.ts"
import { RereadError } from "./RereadError.ts"
import { noneReread, type RereadPage, RereadCollector, type RereadVerdicts } from "./RereadVerdict.ts"
import { RereadStore } from "./RereadStore.ts"

/** The maximum number of events in one call. */
export const MAX_REREAD_EVENTS = 1_000

/** How many events one transaction changes. */
const CHUNK = 50

/** How to reread. */
export interface RereadOptions {
  /** The name of a charset, as in a header. */
  readonly encoding: string
  /** Whether values that are valid UTF-8 are also read in it. */
  readonly allValues: boolean
  /** Whether changed events are delivered again. */
  readonly deliver: boolean
}

/** Which events of a source to reread. */
export interface RereadQuery extends RereadOptions {
  readonly sourceId: number
  /** The most events that a page examines; default: 1,000. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

type Fails = RereadError | StoreUnavailable

export class Rereading extends Context.Service<
  Rereading,
  {
    /** At most `MAX_REREAD_EVENTS`. Refused if none of them can be read again. */
    readonly events: (events: ReadonlyArray<number>, options: RereadOptions) => Effect.Effect<RereadVerdicts, Fails>
    /** The same verdicts, and how many successful deliveries would be sent again, without changing anything. */
    readonly tryEvents: (events: ReadonlyArray<number>, options: RereadOptions) => Effect.Effect<RereadVerdicts, Fails>
    /** A page of the events of a source whose original requests are still stored, oldest first. */
    readonly source: (query: RereadQuery) => Effect.Effect<RereadPage, Fails>
    /** The verdicts of such a page, without changing anything. */
    readonly trySource: (query: RereadQuery) => Effect.Effect<RereadPage, Fails>
  }
>()("@data-cabinet/core/intake/Rereading") {
  static readonly layer = Layer.effect(
    Rereading,
    Effect.gen(function* () {
      const store = yield* RereadStore
      const sources = yield* Sources
      const signal = yield* DeliverySignal
      const keys = yield* CursorKeys

      const all = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, as: RereadAs, change: Change) {
        const found = new RereadCollector(as)
        let deliveries = 0
        for (let at = 0; at < ids.length; at += CHUNK) {
          const chunk = ids.slice(at, at + CHUNK)
          if (change.dryRun) {
            // In chunks, as for a change: a body has up to 64 KB, and other work runs in between.
            const changed: Array<number> = []
            for (const event of yield* store.find(chunk)) {
              if (found.decide(event) !== null) changed.push(event.id)
              yield* Effect.yieldNow
            }
            if (!change.deliver || changed.length === 0) continue
            for (const count of (yield* store.countResent(changed)).values()) deliveries += count
          } else deliveries += yield* store.change(chunk, found.decide, change.deliver)
          yield* Effect.yieldNow
        }
        if (deliveries > 0 && !change.dryRun) yield* Effect.andThen(signal.wake, signal.fanOut.wake)
        return { ...found.of(ids), deliveries }
      })
      const given = Effect.fnUntraced(function* (
        events: ReadonlyArray<number>,
        { deliver, ...options }: RereadOptions,
        dryRun: boolean,
      ) {
        if (events.length > MAX_REREAD_EVENTS) {
          const message = `At most ${MAX_REREAD_EVENTS} events at a time; there were ${events.length}.`
          return yield* new RereadError({ code: "too_many_events", message })
        }
        const as = yield* readingAs(options)
        const ids = [...new Set(events)]
        const missing = yield* store.missing(ids)
        if (missing !== null) {
          return yield* new RereadError({ code: "no_such_event", message: noSuchEvent(missing) })
        }
        const done = yield* all(ids, as, { dryRun, deliver })
        return done.verdicts.some(({ reason }) => reason === null) ? done : yield* noneReread(done.verdicts)
      })
      const page = Effect.fnUntraced(function* (query: RereadQuery, dryRun: boolean) {
        const { sourceId, deliver, limit = MAX_REREAD_EVENTS, cursor } = query
        const as = yield* readingAs(query)
        if (Option.isNone(yield* sources.get(sourceId))) {
          const message = `Source ${sourceId} does not exist.`
          return yield* new RereadError({ code: "no_such_source", message })
        }
        const scope = [sourceId, as.charset.name, as.allValues, deliver]
        const walk: CursorWalk = { kind: "reread", scope, key: yield* keys.key }
        return yield* originalPage(
          { walk, cursor },
          BAD_CURSOR,
          (after) => store.slice({ sourceId, after, limit }),
          (events) => all(events, as, { dryRun, deliver }),
        )
      })

      return Rereading.of({
        events: (events, options) => given(events, options, false),
        tryEvents: (events, options) => given(events, options, true),
        source: (query) => page(query, false),
        trySource: (query) => page(query, true),
      })
    }),
  )
}

const BAD_CURSOR = Effect.suspend(() => {
  const message = "cursor must be a next_cursor of this source's rereading, with the same options."
  return new RereadError({ code: "bad_cursor", message })
})

interface Change {
  readonly dryRun: boolean
  readonly deliver: boolean
}

const readingAs = ({ encoding, allValues }: Pick<RereadOptions, "encoding" | "allValues">) => {
  const charset = charsetOf(encoding)
  if (charset !== null) return Effect.succeed<RereadAs>({ charset, allValues })
  const message = `The charset "${encoding}" is unknown. Known are: ${CHARSET_NAMES.join(", ")}.`
  return Effect.fail(new RereadError({ code: "bad_encoding", message }))
}
