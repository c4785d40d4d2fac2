/** `cabinet event reread`: decodes the originals of stored events again in another charset, and corrects events and rows. */
import { REREAD_REASON_WORDS } from "@data-cabinet/core/intake/RereadError"
import { type RereadExample, rereadExampleShape } from "@data-cabinet/core/intake/RereadExample"
import { Rereading, type RereadOptions } from "@data-cabinet/core/intake/Rereading"
import {
  type RereadOutcome,
  type RereadVerdict,
  type RereadVerdicts,
  rereadVerdictsShape,
} from "@data-cabinet/core/intake/RereadVerdict"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { plainText } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { confirmedByPerson, yes } from "./Confirm.ts"
import { sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"
import { type OutcomeCounts, outcomeLines, walkSource } from "./SourceWalk.ts"

const OUTCOMES: Readonly<Record<RereadOutcome, string>> = {
  changed: "changed",
  unchanged: "read as before",
  refused: "not read again",
}

const outcomeWords = (dryRun: boolean) => (dryRun ? { ...OUTCOMES, changed: "would change" } : OUTCOMES)

const reasonOf = ({ reason }: RereadVerdict): string => (reason === null ? "" : REREAD_REASON_WORDS[reason])

const exampleLines = (example: RereadExample | null, dryRun: boolean): ReadonlyArray<string> => {
  if (example === null) return []
  const { event, values, more } = example
  const line = ({ field, fieldBefore, before, after }: (typeof values)[number]) =>
    `  ${fieldBefore === null ? "" : `${plainText(fieldBefore)} → `}${plainText(field)}: ${plainText(before)} → ${plainText(after)}`
  return [
    `Event ${event} ${dryRun ? "would change" : "changed"}:`,
    ...values.map(line),
    ...(more > 0 ? [`  and ${counted(more, "value")} more`] : []),
  ]
}

const deliveredText = (deliver: boolean, deliveries: number, dryRun: boolean): string => {
  if (!deliver) return ""
  return dryRun
    ? ` ${counted(deliveries, "delivery", "deliveries")} would be sent again.`
    : ` ${counted(deliveries, "delivery is", "deliveries are")} due.`
}

const eventsReread = (events: ReadonlyArray<number>, options: RereadOptions, dryRun: boolean) =>
  Effect.gen(function* () {
    const rereading = yield* Rereading
    const found: RereadVerdicts = yield* dryRun
      ? rereading.tryEvents(events, options)
      : rereading.events(events, options)
    const { verdicts, example, deliveries } = found
    yield* report(yield* format, { dry_run: dryRun, ...rereadVerdictsShape.json(found) }, (style) => {
      const cells = verdicts.map((verdict) => [
        String(verdict.id),
        outcomeWords(dryRun)[verdict.outcome],
        verdict.replaced > 0 ? `${counted(verdict.replaced, "character")} replaced` : reasonOf(verdict),
      ])
      return [
        columns(["EVENT", "READING", ""], cells, { style, none: "None." }),
        ...exampleLines(example, dryRun),
        ...(options.deliver ? [deliveredText(true, deliveries, dryRun).trim()] : []),
      ].join("\n")
    })
  })

interface Walked {
  readonly seen: number
  readonly outcomes: OutcomeCounts
  /** How many changed events have characters without a meaning in the charset. */
  readonly damaged: number
  readonly example: RereadExample | null
  readonly deliveries: number
}

/** Goes through all pages of a source. */
const walked = (sourceId: number, options: RereadOptions, dryRun: boolean) =>
  Effect.gen(function* () {
    const rereading = yield* Rereading
    let damaged = 0
    let example: RereadExample | null = null
    const walk = yield* walkSource(
      dryRun ? "counting" : "reading",
      (cursor) => {
        const query = { sourceId, ...options, cursor }
        return dryRun ? rereading.trySource(query) : rereading.source(query)
      },
      (page) => {
        damaged += page.verdicts.filter(({ outcome, replaced }) => outcome === "changed" && replaced > 0).length
        example ??= page.example
      },
    )
    return { ...walk, damaged, example }
  })

/** How many events have no verdict, because their originals are erased, or JSON, which shows its own charset. */
const leftOut = ({ seen, outcomes }: Walked): number =>
  Object.values(outcomes).reduce((rest, count) => rest - count, seen)

const walkLines = (found: Walked, dryRun: boolean): ReadonlyArray<string> => [
  `${counted(found.seen, "event")} examined.`,
  ...outcomeLines(found.outcomes, outcomeWords(dryRun), REREAD_REASON_WORDS),
  ...(leftOut(found) > 0 ? [`  without an original that is not JSON: ${leftOut(found)}`] : []),
  ...(found.damaged > 0
    ? [`${counted(found.damaged, "event has", "events have")} characters without a meaning in this charset.`]
    : []),
  ...exampleLines(found.example, dryRun),
]

const sourceReread = (sourceId: number, options: RereadOptions, input: { dryRun: boolean; yes: boolean }) =>
  Effect.gen(function* () {
    const { dryRun } = input
    if (!dryRun && !input.yes && process.stdin.isTTY && process.stderr.isTTY) {
      const preview = yield* walked(sourceId, options, true)
      const lines = [
        ...walkLines(preview, true),
        ...(options.deliver ? [deliveredText(true, preview.deliveries, true).trim()] : []),
      ]
      yield* confirmedByPerson(false, `${lines.join("\n")}\nRead them again?`)
    }
    const found = yield* walked(sourceId, options, dryRun)
    const { seen, outcomes, damaged, example, deliveries } = found
    const json = {
      source_id: sourceId,
      dry_run: dryRun,
      seen,
      outcomes,
      damaged,
      example: rereadExampleShape.json(example),
      deliveries,
    }
    yield* report(yield* format, json, () =>
      [
        ...walkLines(found, dryRun),
        `${dryRun ? "Nothing was changed." : "Done."}${deliveredText(options.deliver, deliveries, dryRun)}`,
      ].join("\n"),
    )
  })

const isId = (word: string): boolean => /^[1-9]\d{0,15}$/.test(word) && Number.isSafeInteger(Number(word))

/** Either events by their numbers, or a source. */
const named = Effect.fnUntraced(function* (words: ReadonlyArray<string>, source: Option.Option<string>) {
  const wrong = (message: string) => new CommandError({ code: "usage", message })
  if (Option.isSome(source)) {
    return words.length === 0 ? source.value : yield* wrong("Give either event numbers or --source, and not both.")
  }
  if (words.length === 0) return yield* wrong("Give event numbers, or a source.")
  const [only] = words
  if (words.every(isId)) return words.map(Number)
  return words.length === 1 ? only! : yield* wrong("Give event numbers, or one source.")
})

const flag = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

export const reread = Command.make(
  "reread",
  {
    what: Argument.String("EVENT|SOURCE").pipe(
      Argument.withDescription(
        "Event numbers, or the name of a source: all its events whose original requests are still kept",
      ),
      Argument.variadic(),
    ),
    source: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("A source by number or name, instead of single events"),
      Flag.optional,
    ),
    encoding: Flag.String("encoding").pipe(
      Flag.withMetavar("CHARSET"),
      Flag.withDescription("The charset that the originals are in, such as windows-1251, koi8-r or shift_jis"),
    ),
    allValues: flag("all-values", "Also read values in it that are valid UTF-8 or declare a charset of their own"),
    deliver: flag("deliver", "Deliver the changed events again").pipe(Flag.withAlias("redeliver")),
    dryRun: flag("dry-run", "Only show what would change"),
    yes,
  },
  ({ what, source, encoding, allValues, deliver, ...input }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const given = yield* named(what, source)
        const options = { encoding, allValues, deliver }
        return yield* typeof given === "string"
          ? sourceReread(yield* sourceNamed(given), options, input)
          : eventsReread(given, options, input.dryRun)
      }),
    ),
).pipe(
  Command.withDescription("Correct stored events that were read in the wrong charset, from their original requests"),
)
