/** `cabinet overview`: a cabinet's activity, or with `--step` its events by hours or days. */
import { overviewShape } from "@data-cabinet/core/activity/Activity"
import { Activity, type Overview } from "@data-cabinet/core/activity/Activity"
import { ACTIVITY_STEPS, type ActivityBucket } from "@data-cabinet/core/activity/ActivityStore"
import { counted } from "@data-cabinet/core/text/Counted"
import { Sources } from "@data-cabinet/core/source/Sources"
import { lookup } from "@data-cabinet/remote/http/RemoteSettings"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

const total = (steps: ReadonlyArray<ActivityBucket>): number => steps.reduce((sum, { events }) => sum + events, 0)

const inHours = (seconds: number): string => counted(Math.round(seconds / 3600), "hour", "hours")

const lines = (overview: Overview, names: ReadonlyMap<number, string>, style: Style): string => {
  const { hours, sources, deliveries, waiting, countedUntil } = overview
  const { delivered, failed, p50Millis, p95Millis } = deliveries
  const times =
    p50Millis === null || p95Millis === null ? "" : `; half within ${p50Millis} ms, 95 % within ${p95Millis} ms`
  const rows = sources.map(({ sourceId, lastAt, days, quiet, silence }) => [
    String(sourceId),
    names.get(sourceId) ?? "",
    lastAt ?? "never",
    String(days.at(-1) ?? 0),
    String(days.reduce((sum, events) => sum + events, 0)),
    quiet && silence !== null
      ? `silent for ${inHours(silence.seconds)}, seldom for more than ${inHours(silence.usualSeconds ?? 0)}`
      : "",
  ])
  return [
    `${counted(total(hours), "event", "events")} in 48 hours.`,
    `${counted(delivered, "delivery", "deliveries")} in 24 hours, ${counted(failed, "failed attempt", "failed attempts")}${times}.`,
    ...waiting.map((one) =>
      style.red(`Address ${one.addressId} fails; ${counted(one.waiting, "delivery waits", "deliveries wait")}.`),
    ),
    ...(countedUntil === null ? [] : [style.yellow(`Events since ${countedUntil} are still being counted.`)]),
    "",
    columns(["ID", "SOURCE", "LAST EVENT", "TODAY", "7 DAYS", ""], rows, { style, none: "No sources." }),
  ].join("\n")
}

const overview = Effect.gen(function* () {
  const found = yield* Activity.use((activity) => activity.overview)
  const sources = yield* lookup(Sources.use(({ list }) => list))
  const names = new Map(sources.map(({ id, name }) => [id, name]))
  yield* report(yield* format, overviewShape.json(found), (style) => lines(found, names, style))
})

const asGiven = (value: Option.Option<string>) => Option.getOrNull(value)

const time = (name: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TIME"), Flag.withDescription(about), Flag.optional)

export const overviewCommand = Command.make(
  "overview",
  {
    step: Flag.Literals("step", ACTIVITY_STEPS).pipe(
      Flag.withDescription("List the events by hours (of UTC) or days (of the cabinet's time zone) instead"),
      Flag.optional,
    ),
    source: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("With --step: only events of this source, by number or name"),
      Flag.optional,
    ),
    from: time("from", "With --step: the start of the period; default: 48 hours or 28 days before its end"),
    to: time("to", "With --step: the end of the period; default: now"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        if (Option.isNone(input.step)) {
          if ([input.source, input.from, input.to].some(Option.isSome)) {
            const message = "--source, --from and --to are for a list by hours or days: add --step hour or --step day."
            return yield* new CommandError({ code: "usage", message })
          }
          return yield* overview
        }
        const step = input.step.value
        const sourceId = Option.isNone(input.source) ? null : yield* sourceNamed(input.source.value)
        const steps = yield* Activity.use((activity) =>
          activity.events({ step, sourceId, from: asGiven(input.from), to: asGiven(input.to) }),
        )
        yield* report(yield* format, steps, (style) =>
          columns(
            ["AT", "EVENTS", "REPEATS", "EMPTY", "HISTORY"],
            steps.map(({ at, ...counts }) => [
              at,
              ...[counts.events, counts.repeats, counts.empty, counts.history].map(String),
            ]),
            { style, none: "No steps." },
          ),
        )
      }),
    ),
).pipe(Command.withDescription("Show what the cabinet is doing: events, silent sources, deliveries"))
