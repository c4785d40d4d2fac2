/** `cabinet event purge`: erases the data of events for good, by their numbers or by conditions for their fields. */
import {
  addCounts,
  Erasure,
  type ErasureCounts,
  type ErasureQuery,
  type ErasureStretch,
  NOTHING_ERASED,
} from "@data-cabinet/core/event/Erasure"
import { Trash } from "@data-cabinet/core/event/Trash"
import { counted } from "@data-cabinet/core/text/Counted"
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { progressBar } from "../output/ProgressBar.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { confirmed, yes } from "./Confirm.ts"
import { sourceNamed } from "./Named.ts"
import { format, idArgument, withCabinet } from "./Root.ts"
import { filtersOf } from "./RowsFlags.ts"

const byNumber = (events: ReadonlyArray<number>) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const purged = yield* Trash.use((port) => port.purge(events))
      const words = `${counted(purged, "event")} erased permanently, repeats included: payload, original request, row and receivers' responses. Their entries in the feed remain, empty.`
      yield* report(yield* format, { purged }, () => words)
    }),
  )

/** Goes through all events, one range after another. */
const through = <E, R>(word: string, work: (after: number) => Effect.Effect<ErasureStretch, E, R>) =>
  Effect.gen(function* () {
    const bar = progressBar()
    let counts = NOTHING_ERASED
    let after: number | null = 0
    while (after !== null) {
      const { next, ...found }: ErasureStretch = yield* work(after)
      counts = addCounts(counts, found)
      after = next
      bar.count(word, counted(counts.events, "event"), yield* Clock.currentTimeMillis)
    }
    bar.clear()
    return counts
  })

const inWords = ({ events, repeats, rows, originals, deliveries }: ErasureCounts): string =>
  `${counted(events, "event")} and ${counted(repeats, "repeat")}: ${counted(rows, "row")}, ${counted(originals, "event")} with an original request, ${counted(deliveries, "delivery", "deliveries")} that ${deliveries === 1 ? "waits" : "wait"}`

interface Where {
  readonly where: ReadonlyArray<string>
  readonly source: Option.Option<string>
  readonly dryRun: boolean
  readonly yes: boolean
}

const byCondition = ({ where, source, dryRun, yes: said }: Where) =>
  Effect.gen(function* () {
    const filters = yield* filtersOf(where)
    return yield* withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = Option.isNone(source) ? null : yield* sourceNamed(source.value)
        const erasure = yield* Erasure
        const query = (after: number): ErasureQuery => ({ filters, sourceId, after })
        const shown = yield* format
        if (dryRun || !said) {
          const found = yield* through("looking", (after) => erasure.find(query(after)))
          if (dryRun) return yield* report(shown, { dry_run: true, ...found }, () => `Would erase ${inWords(found)}.`)
          yield* confirmed(false, `Erase ${inWords(found)}?`)
        }
        const erased = yield* through("erasing", (after) => erasure.erase(query(after)))
        const words = `Erased permanently: ${inWords(erased)}. Their entries in the feed remain, empty.`
        yield* report(shown, { dry_run: false, ...erased }, () => words)
      }),
    )
  })

export const purge = Command.make(
  "purge",
  {
    events: idArgument("EVENT", "Event numbers").pipe(Argument.variadic()),
    where: Flag.String("where").pipe(
      Flag.withMetavar("CONDITION"),
      Flag.withDescription(
        'Instead of numbers: all events with such a field, such as "email=ann@example.com"; repeatable, and all must hold',
      ),
      Flag.between(0, 50),
    ),
    source: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("With --where: only events of this source; default: of all"),
      Flag.optional,
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("With --where: count what would be erased, and erase nothing"),
      Flag.withDefault(false),
    ),
    yes,
  },
  ({ events, ...input }) =>
    Effect.gen(function* () {
      const refuse = (message: string) => new CommandError({ code: "usage", message })
      if (events.length > 0 === input.where.length > 0) {
        return yield* refuse("Give either event numbers or --where, and not both.")
      }
      if (input.where.length > 0) return yield* byCondition(input)
      if (input.dryRun || Option.isSome(input.source)) return yield* refuse("--source and --dry-run go with --where.")
      yield* confirmed(input.yes, `Erase ${counted(events.length, "event")} for good, repeats included?`)
      yield* byNumber(events)
    }),
).pipe(Command.withDescription("Permanently erase the data of events; cannot be undone"))
