/**
 * Brings the rows of archived events back before something is done with them, and holds them for an hour. After that every
 * statement on events finds them, and what it changes counts before the copy.
 *
 * Rows are locked after the hold is there: a deletion that began before is waited for, and one that begins after sees the hold.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import type { ColdEvent, ColdFailure, ColdGroup } from "@data-cabinet/core/cold/ColdFiles"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { unavailable } from "../connection/StoreFailure.ts"
import { type ColdList, ColdReader, type FoundEvent } from "../feed/ColdReader.ts"
import { HOLD, PRESENT } from "./ColdStatement.ts"
import { bringBack } from "./PgColdStore.ts"

type Returns = Effect.Effect<void, SqlError.SqlError | StoreUnavailable>

/** A repeat is received within five minutes of its first, and may be committed later. */
const BEFORE_MICROS = 3_600_000_000n

/** How many rows are brought back in a transaction. */
const AT_ONCE = 1_000

/** The most events that an act on a period brings back. */
const MOST_EVENTS = 1_000_000

const TOO_MANY = `More than ${MOST_EVENTS.toLocaleString("en")} of these events are in files. Choose a shorter period, or bring them back with: cabinet cold thaw`

export class ColdActs extends Context.Service<
  ColdActs,
  {
    /** Before an act on these events. Unknown ids are left to the act. */
    readonly need: (ids: ReadonlyArray<number>) => Returns
    /** The same with what they repeat, and with the repeats of both. */
    readonly needWithRepeats: (ids: ReadonlyArray<number>) => Returns
    /** Before an act on the events received between two times, in microseconds since 2000; null for no bound. */
    readonly needBetween: (from: bigint | null, to: bigint | null) => Returns
    /** Before an act on the events of a source with ids from the first to the last. */
    readonly needIds: (sourceId: number, first: number, last: number) => Returns
  }
>()("@data-cabinet/store-pg/cold/ColdActs") {}

type Wants = (event: ColdEvent) => boolean
type MayHave = (group: Pick<ColdGroup, "ids" | "times">) => boolean

class BringBack {
  readonly #sql: PgClient.PgClient
  readonly #cold: ColdReader["Service"]

  constructor(sql: PgClient.PgClient, cold: ColdReader["Service"]) {
    this.#sql = sql
    this.#cold = cold
  }

  need(ids: ReadonlyArray<number>): Returns {
    if (ids.length === 0) return Effect.void
    return this.#needIn((list) =>
      Effect.gen({ self: this }, function* () {
        const missing = yield* this.#hold(ids)
        return missing.length === 0 || (yield* this.#insert(yield* this.#cold.find(list, missing)))
      }),
    )
  }

  withRepeats(ids: ReadonlyArray<number>): Returns {
    return Effect.gen({ self: this }, function* () {
      const list = yield* this.#cold.current
      if (list.border === null) return
      yield* this.need(ids)
      const rows = yield* this.#sql.unsafe<{ readonly id: number }>(FIRSTS, [int8Array(ids)])
      const firsts = new Set([...ids, ...rows.map(({ id }) => id)])
      const repeats = yield* this.#cold.reading((files) => this.#repeatsOf(files, firsts), list)
      yield* this.need([...firsts, ...repeats])
    })
  }

  where(mayHave: MayHave, wants: Wants): Returns {
    return this.#needIn((list) =>
      Effect.gen({ self: this }, function* () {
        let [count, isListed] = [0, true]
        const visit = (events: ReadonlyArray<ColdEvent>, file: FoundEvent["file"]) =>
          Effect.gen({ self: this }, function* () {
            const wanted = events.filter(wants)
            count += wanted.length
            if (count > MOST_EVENTS) return yield* unavailable(TOO_MANY)
            if (wanted.length === 0) return true
            const missing = new Set(yield* this.#hold(wanted.map(({ id }) => id)))
            isListed = yield* this.#insert(wanted.filter(({ id }) => missing.has(id)).map((event) => ({ event, file })))
            return isListed
          })
        yield* this.#cold.scan(list, mayHave, visit)
        return isListed
      }),
    )
  }

  /** Works with the current list, again if a file of it was replaced meanwhile. */
  #needIn(
    work: (list: ColdList) => Effect.Effect<boolean, ColdFailure | SqlError.SqlError | StoreUnavailable>,
  ): Returns {
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < 3; tries++) {
        const list = yield* this.#cold.current
        if (list.border === null || (yield* this.#cold.reading(work, list))) return
      }
      return yield* unavailable("The files of old events are being written again.")
    })
  }

  /** Holds events, and returns those without a row. */
  #hold(ids: ReadonlyArray<number>) {
    return this.#sql.withTransaction(
      Effect.gen({ self: this }, function* () {
        yield* this.#sql.unsafe(HOLD, [int8Array(ids)])
        const rows = yield* this.#sql.unsafe<{ readonly id: number }>(PRESENT, [int8Array(ids)])
        const present = new Set(rows.map(({ id }) => id))
        return ids.filter((id) => !present.has(id))
      }),
    )
  }

  /** False if a file of these is listed no longer. */
  #insert(found: ReadonlyArray<FoundEvent>) {
    return Effect.gen({ self: this }, function* () {
      for (const [file, ofFile] of Map.groupBy(found, (one) => one.file)) {
        const events = ofFile.map(({ event }) => event)
        for (let at = 0; at < events.length; at += AT_ONCE) {
          if (!(yield* bringBack(this.#sql, file, events.slice(at, at + AT_ONCE)))) return false
        }
      }
      return true
    })
  }

  /** Ids of events in files that repeat one of these. */
  #repeatsOf(list: ColdList, firsts: ReadonlySet<number>) {
    return Effect.gen({ self: this }, function* () {
      const repeats: Array<number> = []
      const times = (yield* this.#cold.find(list, [...firsts])).map(({ event }) => event.receivedAt)
      const rows = yield* this.#sql.unsafe<{ readonly at: string }>(RECEIVED, [int8Array([...firsts])])
      for (const { at } of rows) times.push(BigInt(at))
      const visit = (events: ReadonlyArray<ColdEvent>) =>
        Effect.sync(() => {
          for (const { id, repeatOf } of events) if (repeatOf !== null && firsts.has(repeatOf)) repeats.push(id)
          return true
        })
      const isNear: MayHave = ({ times: [from, to] }) =>
        times.some((at) => from <= at + BEFORE_MICROS && to >= at - BEFORE_MICROS)
      yield* this.#cold.scan(list, isNear, visit)
      return repeats
    })
  }
}

export const layer = Layer.effect(
  ColdActs,
  Effect.gen(function* () {
    const acts = new BringBack(yield* PgClient.PgClient, yield* ColdReader)
    return ColdActs.of({
      need: (ids) => acts.need(ids),
      needWithRepeats: (ids) => acts.withRepeats(ids),
      needBetween: (from, to) =>
        acts.where(
          ({ times }) => (from === null || times[1] >= from) && (to === null || times[0] <= to),
          ({ receivedAt }) => (from === null || receivedAt >= from) && (to === null || receivedAt <= to),
        ),
      needIds: (sourceId, first, last) =>
        acts.where(
          ({ ids }) => ids[1] >= first && ids[0] <= last,
          (event) => event.sourceId === sourceId && event.id >= first && event.id <= last,
        ),
    })
  }),
)

/** $1: ids. What they repeat. */
const FIRSTS =
  "SELECT DISTINCT repeat_of::float8 AS id FROM cabinet.event WHERE id = ANY ($1::int8[]) AND repeat_of IS NOT NULL"

/** $1: ids. */
const RECEIVED = `
SELECT (extract(epoch FROM received_at - '2000-01-01 00:00:00+00'::timestamptz) * 1000000)::int8::text AS at
FROM cabinet.event WHERE id = ANY ($1::int8[])`
