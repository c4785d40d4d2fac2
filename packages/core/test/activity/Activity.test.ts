import { Activity, type ActivityPeriod } from "@data-cabinet/core/activity/Activity"
import {
  type ActivityQuery,
  ActivityStore,
  type AttemptCounts,
  type SourceActivity,
} from "@data-cabinet/core/activity/ActivityStore"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { CabinetTimeZone } from "@data-cabinet/core/selection/CabinetTimeZone"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { expect, it } from "vitest"

const NOW = Date.parse("2026-11-25T12:00:00Z")
const EVERYTHING: ActivityPeriod = { sourceId: null, step: "hour", from: null, to: null }

/** The calls to the store, in order. */
type Asked = ActivityQuery | "counted on" | { readonly days: number; readonly timeZone: string } | number

const over = (found: {
  readonly sources?: ReadonlyArray<SourceActivity>
  readonly attempts?: ReadonlyArray<AttemptCounts>
  readonly isReadOnly?: boolean
}) => {
  const asked: Array<Asked> = []
  const note = <A>(what: Asked, answer: A) => Effect.sync(() => (asked.push(what), answer))
  const noWrites = new StoreUnavailable({ message: "read-only", retryAfter: 1, outcomeUnknown: false })
  const store = ActivityStore.of({
    countEvents: () => (found.isReadOnly === true ? Effect.fail(noWrites) : note("counted on", 0)),
    countAttempts: Effect.succeed(false),
    events: (query) => note(query, [{ at: "2026-11-25T11:00:00Z", events: 3, repeats: 1, empty: 0, history: 2 }]),
    sources: (query) => note(query, found.sources ?? []),
    attempts: (hours) => note(hours, found.attempts ?? []),
    waitingAtFailing: Effect.succeed([{ addressId: 4, waiting: 2, oldest: "2026-11-25T08:00:00Z" }]),
    firstUncounted: Effect.succeed("2026-11-25T11:59:00Z"),
  })
  const sources = { get: (id: number) => Effect.succeed(id === 1 ? Option.some({ id }) : Option.none()) } as never
  const layer = Activity.layer.pipe(
    Layer.provide([
      Layer.succeed(ActivityStore, store),
      Layer.succeed(Sources, sources),
      Layer.succeed(CabinetTimeZone, "Europe/Berlin"),
    ]),
  )
  const use = <A, E>(work: (activity: Activity["Service"]) => Effect.Effect<A, E>) =>
    TestClock.setTime(NOW).pipe(
      Effect.andThen(Activity.use(work)),
      Effect.provide(Layer.merge(layer, TestClock.layer())),
      Effect.runPromise,
    )
  const events = (period: Partial<ActivityPeriod>) => use((activity) => activity.events({ ...EVERYTHING, ...period }))
  const refusal = (period: Partial<ActivityPeriod>) =>
    use((activity) => Effect.flip(activity.events({ ...EVERYTHING, ...period })))
  return { asked, use, events, refusal }
}

it("new events are counted, then read in the cabinet's time zone: two days by the hour, four weeks by the day", async () => {
  const { asked, events } = over({})
  await events({})
  await events({ step: "day", sourceId: 1 })
  const common = { from: null, to: null, timeZone: "Europe/Berlin" }
  expect(asked).toEqual([
    "counted on",
    { ...common, sourceId: null, step: "hour", last: 48 },
    "counted on",
    { ...common, sourceId: 1, step: "day", last: 28 },
  ])
})

it("a read-only database returns the stored counts", async () => {
  const { use, events } = over({ isReadOnly: true })
  expect(await events({})).toHaveLength(1)
  expect((await use((activity) => activity.overview)).hours).toHaveLength(1)
})

it.each<[Partial<ActivityPeriod>, string]>([
  [{ from: "yesterday" }, "from"],
  [{ to: "2026-11-25" }, "to"],
  [{ from: "2026-11-25T09:00:00Z", to: "2026-11-25T09:00:00Z" }, "to"],
  [{ from: "2026-11-25T09:00:00Z", to: "2026-11-25T08:00:00Z" }, "to"],
  // 1,000 hours are 41 days and 16 hours.
  [{ from: "2026-10-14T19:59:59Z" }, "from"],
  [{ from: "2026-01-01T00:00:00Z", to: "2026-02-11T16:00:01Z" }, "from"],
  [{ step: "day", from: "2024-02-29T11:59:59Z" }, "from"],
])(
  "an invalid period, or one of more than a thousand steps, is refused before anything is read: %j",
  async (period, param) => {
    const { asked, refusal } = over({})
    expect(await refusal(period)).toMatchObject({ code: "bad_period", param })
    expect(asked).toEqual([])
  },
)

it.each<Partial<ActivityPeriod>>([
  { from: "2026-10-14T20:00:00Z" },
  { from: "2026-01-01T00:00:00Z", to: "2026-02-11T16:00:00Z" },
  { step: "day", from: "2024-02-29T12:00:00Z" },
  { to: "2020-01-01T00:00:00+03:00" },
  // There are no events yet.
  { from: "2026-11-26T00:00:00Z" },
])("a period of up to a thousand steps is read as given: %j", async (period) => {
  const { asked, events } = over({})
  await events(period)
  expect(asked.at(-1)).toMatchObject(period)
})

it("Activity refuses an unknown source instead of returning no events", async () => {
  const { asked, refusal } = over({})
  expect(await refusal({ sourceId: 2 })).toMatchObject({ code: "no_such_source", param: "source_id" })
  expect(asked).toEqual([])
})

it("Activity's overview covers two days of hours, a week per source, and a day of deliveries", async () => {
  const { asked, use } = over({})
  const { hours, waiting, countedUntil } = await use((activity) => activity.overview)
  expect(asked).toEqual([
    "counted on",
    { sourceId: null, step: "hour", from: null, to: null, last: 48, timeZone: "Europe/Berlin" },
    { days: 7, timeZone: "Europe/Berlin" },
    24,
  ])
  expect(hours).toEqual([{ at: "2026-11-25T11:00:00Z", events: 3, repeats: 1, empty: 0, history: 2 }])
  expect(waiting).toEqual([{ addressId: 4, waiting: 2, oldest: "2026-11-25T08:00:00Z" }])
  expect(countedUntil).toBe("2026-11-25T11:59:00Z")
})

it("Activity's overview shows which sources are quiet", async () => {
  const silence = { since: "2026-11-20T00:00:00Z", seconds: 400_000, activeDays: 20, usualSeconds: 40_000 }
  const source = (sourceId: number, known: SourceActivity["silence"]): SourceActivity => ({
    sourceId,
    lastAt: null,
    lastEventId: null,
    days: [1, 2],
    silence: known,
  })
  const sources = [source(1, null), source(2, silence), source(3, { ...silence, usualSeconds: 400_000 })]
  const { use } = over({ sources })
  expect((await use((activity) => activity.overview)).sources).toEqual([
    { ...sources[0], quiet: false },
    { ...sources[1], quiet: true },
    { ...sources[2], quiet: false },
  ])
})

it("Activity's overview adds up deliveries of all addresses, by hour and in total", async () => {
  const counts = (hour: number, addressId: number, withinMillis: number | null, attempts: number): AttemptCounts => ({
    at: `2026-11-25T0${hour}:00:00Z`,
    addressId,
    withinMillis,
    outcome: withinMillis === null ? "error" : "delivered",
    attempts,
  })
  const attempts = [counts(8, 1, 50, 2), counts(8, 2, null, 1), counts(9, 1, 200, 1), counts(9, 2, 50, 3)]
  const { deliveryHours, deliveries } = await over({ attempts }).use((activity) => activity.overview)
  expect(deliveryHours).toEqual([
    { at: "2026-11-25T08:00:00Z", delivered: 2, failed: 1, p50Millis: 50, p95Millis: 50 },
    { at: "2026-11-25T09:00:00Z", delivered: 4, failed: 0, p50Millis: 50, p95Millis: 200 },
  ])
  expect(deliveries).toEqual({ delivered: 6, failed: 1, p50Millis: 50, p95Millis: 200 })
})
