/**
 * A cabinet's activity, by hours and days: how much it receives, which source has fallen silent, how deliveries go and
 * what fails. Everything is read from counts (`ActivityStore`), so that it costs the same however many events there
 * are. Refuses invalid periods, periods with too many steps, and unknown sources.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { CabinetTimeZone } from "../selection/CabinetTimeZone.ts"
import { Sources } from "../source/Sources.ts"
import { isTimestamp, notATimestamp } from "../text/Timestamp.ts"
import {
  type ActivityBucket,
  type ActivityStep,
  ActivityStore,
  hourShape,
  type SourceActivity,
  sourceActivityMembers,
  type WaitingDeliveries,
  waitingShape,
  type Silence,
} from "./ActivityStore.ts"
import {
  deliveryFigures,
  type DeliveryFigures,
  deliveryFiguresShape,
  type DeliveryHour,
  deliveryHourShape,
} from "./DeliveryFigures.ts"

/** The error for refused requests about activity. */
export class ActivityError extends Schema.TaggedError<ActivityError>()("ActivityError", {
  code: Schema.Literals(["bad_period", "no_such_source"]),
  message: Schema.String,
  /** The parameter at fault. */
  param: Schema.String,
}) {}

/** The period of a question about activity. */
export interface ActivityPeriod {
  readonly sourceId: number | null
  readonly step: ActivityStep
  /** RFC 3339; null: two days of hours, or four weeks of days. */
  readonly from: string | null
  /** RFC 3339; null: now. */
  readonly to: string | null
}

/** A source, when it received and whether it is silent. */
export interface SourceState extends SourceActivity {
  /** It usually receives, and is silent for longer than usual. */
  readonly quiet: boolean
}

/** A cabinet's activity. */
export interface Overview {
  /** The last two days. */
  readonly hours: ReadonlyArray<ActivityBucket>
  readonly sources: ReadonlyArray<SourceState>
  /** The last day, by hours with attempts and as a whole. */
  readonly deliveryHours: ReadonlyArray<DeliveryHour>
  readonly deliveries: DeliveryFigures
  readonly waiting: ReadonlyArray<WaitingDeliveries>
  /** Events since then are still being counted, RFC 3339; null if all are counted. */
  readonly countedUntil: string | null
}

/** The overview's JSON and its description. */
export const overviewShape = Shape.named(
  "Overview",
  Shape.object<Overview>("The cabinet's activity.", {
    hours: Shape.list(hourShape, "The last 48 hours, oldest first."),
    sources: Shape.list(
      Shape.object<SourceState>("A source.", {
        ...sourceActivityMembers,
        quiet: Shape.flag("Whether it usually receives events, but has been silent for longer than usual."),
      }),
      "All sources.",
    ),
    deliveryHours: Shape.list(deliveryHourShape, "The last 24 hours, oldest first."),
    deliveries: deliveryFiguresShape,
    waiting: Shape.list(waitingShape, "Addresses that fail and are not paused."),
    countedUntil: Shape.orNull(Shape.time("Events since then are still being counted; null: all are counted.")),
  }),
)

/** The hours and days of the overview. */
export const OVERVIEW_HOURS = 48
/** The number of days in the overview's list of sources. */
export const OVERVIEW_DAYS = 7
const DELIVERY_HOURS = 24

/** The number of days shown if the caller names no period. */
const DEFAULT_DAYS = 28
const MOST_STEPS = 1_000
const STEP_MILLIS = { hour: 3_600_000, day: 86_400_000 } as const satisfies Record<ActivityStep, number>

/** The most events that a reader counts by itself, so that its figures include the latest ones. */
const COUNTED_AHEAD = 2_000

export class Activity extends Context.Service<
  Activity,
  {
    /** The zone in which the cabinet's days begin, such as `Europe/Berlin`. */
    readonly timeZone: Effect.Effect<string, StoreUnavailable>
    readonly overview: Effect.Effect<Overview, StoreUnavailable>
    /** Every step of the period, oldest first, including those without events. */
    readonly events: (
      period: ActivityPeriod,
    ) => Effect.Effect<ReadonlyArray<ActivityBucket>, ActivityError | StoreUnavailable>
  }
>()("@data-cabinet/core/activity/Activity") {
  static readonly layer = Layer.effect(
    Activity,
    Effect.gen(function* () {
      const store = yield* ActivityStore
      const sources = yield* Sources
      const timeZone = yield* CabinetTimeZone
      // A read-only database still has its counts.
      const countOn = Effect.ignore(store.countEvents(COUNTED_AHEAD, null))
      return Activity.of({
        timeZone: Effect.succeed(timeZone),
        overview: Effect.andThen(countOn, overview(store, timeZone)),
        events: Effect.fnUntraced(function* ({ sourceId, step, from, to }) {
          yield* checkPeriod(step, from, to)
          if (sourceId !== null && Option.isNone(yield* sources.get(sourceId))) {
            yield* refuse("no_such_source", `Source ${sourceId} does not exist.`, "source_id")
          }
          yield* countOn
          const last = step === "hour" ? OVERVIEW_HOURS : DEFAULT_DAYS
          return yield* store.events({ sourceId, step, from, to, last, timeZone })
        }),
      })
    }),
  )
}

const refuse = (code: ActivityError["code"], message: string, param: string) =>
  Effect.fail(new ActivityError({ code, message, param }))

const checkPeriod = Effect.fnUntraced(function* (step: ActivityStep, from: string | null, to: string | null) {
  if (from !== null && !isTimestamp(from)) yield* refuse("bad_period", notATimestamp(from), "from")
  if (to !== null && !isTimestamp(to)) yield* refuse("bad_period", notATimestamp(to), "to")
  if (from === null) return
  const millis = (to === null ? yield* Clock.currentTimeMillis : Date.parse(to)) - Date.parse(from)
  if (to !== null && millis <= 0) yield* refuse("bad_period", "to must be later than from.", "to")
  if (millis / STEP_MILLIS[step] > MOST_STEPS) {
    const message = `The period has more than ${MOST_STEPS} steps: give a later from, or count by days.`
    yield* refuse("bad_period", message, "from")
  }
})

const overview = Effect.fnUntraced(function* (store: ActivityStore["Service"], timeZone: string) {
  const hours = yield* store.events({
    sourceId: null,
    step: "hour",
    from: null,
    to: null,
    last: OVERVIEW_HOURS,
    timeZone,
  })
  const sources = yield* store.sources({ days: OVERVIEW_DAYS, timeZone })
  const attempts = yield* store.attempts(DELIVERY_HOURS)
  const waiting = yield* store.waitingAtFailing
  const countedUntil = yield* store.firstUncounted
  const found: Overview = {
    hours,
    sources: sources.map((one) => ({ ...one, quiet: one.silence !== null && isQuiet(one.silence) })),
    deliveryHours: [...Map.groupBy(attempts, ({ at }) => at)].map(([at, counts]) => ({
      at,
      ...deliveryFigures(counts),
    })),
    deliveries: deliveryFigures(attempts),
    waiting,
    countedUntil,
  }
  return found
})

/** A source that received on fewer days of the four weeks has no usual silence. */
const LEAST_ACTIVE_DAYS = 5
const TOLERANCE = 1.5
/** Counts by the hour cannot show shorter silences. */
export const SHORTEST_SILENCE_SECONDS = 2 * 3600
/** After this long the silence is known. */
export const LONGEST_SILENCE_SECONDS = 28 * 86_400

/**
 * True if the silence is longer than the source's usual ones. The measure is the third longest silence of four weeks: nights
 * and weekends occur more often than that, an outage or a holiday does not.
 */
export const isQuiet = ({ seconds, activeDays, usualSeconds }: Silence): boolean =>
  activeDays >= LEAST_ACTIVE_DAYS &&
  usualSeconds !== null &&
  seconds <= LONGEST_SILENCE_SECONDS &&
  seconds > Math.max(SHORTEST_SILENCE_SECONDS, usualSeconds * TOLERANCE)
