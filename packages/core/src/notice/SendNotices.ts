/**
 * Finds causes of notices and sends them. A notice and the record of its cause are committed together, so that it is
 * sent once, however many processes check, and even if one is killed.
 */
import { Context, Effect, Layer, Option } from "effect"
import { ActivityStore } from "../activity/ActivityStore.ts"
import { filteredDeliveries } from "../delivery/FilteredDeliveries.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { appendEvents, EventLog } from "../event/EventLog.ts"
import { fieldsOf } from "../intake/FieldsOf.ts"
import { WEBHOOK } from "../intake/PreparedSubmission.ts"
import { jsonText } from "../json/JsonText.ts"
import { learnAhead } from "../payload/LearnShapes.ts"
import { ShapeStore } from "../payload/ShapeStore.ts"
import { Sources } from "../source/Sources.ts"
import type { Notice } from "./Notice.ts"
import { noticesOf } from "./NoticesOf.ts"
import { type NoticeSource, NoticeStore } from "./NoticeStore.ts"
import { changedFieldsOf, lastLearnedDay } from "./ShapeNotices.ts"
import type { DiskFact } from "./NoticeFacts.ts"
import { background } from "../runtime/Background.ts"

/** Measures the free space on the database's disk. */
export class DiskSpace extends Context.Service<
  DiskSpace,
  {
    /** Null if it cannot be measured: the database is on another machine, or its directory is unknown. */
    readonly look: Effect.Effect<DiskFact | null>
  }
>()("@data-cabinet/core/notice/DiskSpace") {}

/** For databases whose disk cannot be measured. */
export const UNKNOWN_DISK = DiskSpace.of({ look: Effect.succeed(null) })

/** The limit of one round; the next round sends the rest. */
const MOST_NOTICES = 200

/** The most notices accepted together. */
const AT_ONCE = 20

/** How often a notice is retried when its source keeps changing. */
const MAX_ATTEMPTS = 4

export class SendNotices extends Context.Service<
  SendNotices,
  {
    /** Sends the notices that are due; returns their number, 0 while notices are off. */
    readonly send: Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/notice/SendNotices") {
  static readonly layer = Layer.effect(
    SendNotices,
    Effect.gen(function* () {
      const sender = new NoticeSender({
        store: yield* NoticeStore,
        activity: yield* ActivityStore,
        sources: yield* Sources,
        log: yield* EventLog,
        disk: yield* DiskSpace,
        shapes: yield* ShapeStore,
      })
      return SendNotices.of({ send: Effect.suspend(() => sender.send) })
    }),
  )
}

interface Ports {
  readonly store: NoticeStore["Service"]
  readonly activity: ActivityStore["Service"]
  readonly sources: Sources["Service"]
  readonly log: EventLog["Service"]
  readonly disk: DiskSpace["Service"]
  readonly shapes: ShapeStore["Service"]
}

class NoticeSender {
  readonly #ports: Ports
  /** The last day whose changes to shapes this process has sent. */
  #day = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get send(): Effect.Effect<number, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { store, disk } = this.#ports
      const source = yield* store.source
      if (source === null || !source.on) return 0
      const stored = yield* store.facts(source)
      const silent = yield* this.#silent(source.id)
      const { day, fields } = yield* this.#fields(source)
      const { notices, over } = noticesOf({ ...stored, silent, fields, disk: yield* disk.look })
      if (over.length > 0) yield* store.end(over)
      const unsent = yield* store.unsent(notices.map(({ cause }) => cause))
      const due = notices.filter((_, n) => unsent[n]!)
      const news = due.slice(0, MOST_NOTICES)
      const sent = yield* Effect.forEach(news, (one) => this.#sendOne(source.id, one), { concurrency: AT_ONCE })
      if (due.length === sent.filter(Boolean).length) this.#day = day
      return sent.filter(Boolean).length
    })
  }

  /** Shapes are read once a day. */
  #fields(noticeSource: NoticeSource) {
    return Effect.gen({ self: this }, function* () {
      const { shapes, sources } = this.#ports
      const day = lastLearnedDay((yield* shapes.read([])).now)
      if (day === this.#day) return { day, fields: [] }
      yield* learnAhead(shapes)
      const all = (yield* sources.list).filter(({ id, archived }) => id !== noticeSource.id && !archived)
      const since = Date.parse(noticeSource.since)
      return { day, fields: yield* changedFieldsOf(shapes, all, { lastDay: day, since }) }
    })
  }

  #silent(noticeSourceId: number) {
    return Effect.gen({ self: this }, function* () {
      const { activity, sources } = this.#ports
      const states = yield* activity.sources({ days: 1, timeZone: "UTC" })
      const names = new Map((yield* sources.list).map(({ id, name }) => [id, name]))
      return states.flatMap(({ sourceId, silence }) => {
        const sourceName = names.get(sourceId)
        return silence === null || sourceName === undefined || sourceId === noticeSourceId
          ? []
          : [{ sourceId, sourceName, silence }]
      })
    })
  }

  /** False if another process sent it meanwhile, or its source no longer exists. */
  #sendOne(sourceId: number, { cause, payload }: Notice): Effect.Effect<boolean, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { store, sources, log } = this.#ports
      const fields = yield* Effect.orDie(fieldsOf(payload))
      const events = [{ payload: fields, text: jsonText(fields), empty: false, fingerprint: null }]
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const source = yield* sources.forIntake(sourceId)
        if (Option.isNone(source)) return false
        const appended = yield* appendEvents(log, {
          ...WEBHOOK,
          sourceId,
          sourceVersion: source.value.version,
          events,
          original: null,
          notice: cause,
          ...(yield* Effect.promise(() => filteredDeliveries(source.value.filtered, events))),
        }).pipe(
          Effect.as(true),
          Effect.catchTag("SourceChanged", () => Effect.succeed(false)),
        )
        if (appended) return true
        if ((yield* store.unsent([cause]))[0] !== true) return false
      }
      return false
    })
  }
}

/** Sends notices, in every serving process. One process a minute looks for causes. */
export const noticeRounds = Layer.effectDiscard(
  Effect.gen(function* () {
    const { claimRound } = yield* NoticeStore
    const { send } = yield* SendNotices
    const round = Effect.flatMap(claimRound, (claimed) => (claimed ? send : Effect.succeed(0)))
    // An unavailable database is reported by everything that needs it.
    yield* background("notices", "1 minute", round, { firstAfter: "15 seconds", quiet: true })
  }),
)
