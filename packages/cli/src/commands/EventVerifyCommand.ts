/** `cabinet event verify`: checks stored events against the current recipe and secrets. */
import type { UncheckedReason } from "@data-cabinet/core/verification/LateCheck"
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import { lateVerdictsShape, type LateOutcome, type LateVerdict } from "@data-cabinet/core/verification/LateVerdict"
import { BaseAddress } from "@data-cabinet/core/source/BaseAddress"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { REFUSAL_WORDS } from "./EventShowCommand.ts"
import { sourceNamed } from "./Named.ts"
import { format, idArgument, withCabinet } from "./Root.ts"
import { outcomeLines, walkSource } from "./SourceWalk.ts"

const REASONS: Readonly<Record<NonNullable<LateVerdict["reason"]>, string>> = {
  ...REFUSAL_WORDS,
  no_original: "it has no original request, or no longer",
  source_off: "its source is switched off",
  no_recipe: "its source has no recipe to verify by",
  plain_secret: "its sender sends the secret itself, which is never kept",
  cut_body: "its body is longer than the 64 KB that are kept",
  encoded_body: "its content encoding could not be decoded",
  no_kept_signature: "it was not signed, or its source did not keep the headers (source set --keep-headers)",
  no_kept_query: "the signature covers the address, whose query was not kept (source set --keep-query on)",
} satisfies Record<UncheckedReason | keyof typeof REFUSAL_WORDS, string>

const OUTCOMES: Readonly<Record<LateOutcome, string>> = {
  verified: "verified",
  was_verified: "was verified",
  refused: "not verified",
  unchecked: "cannot be checked",
}

const delivered = (deliver: boolean, deliveries: number): string =>
  deliver ? ` ${counted(deliveries, "delivery", "deliveries")} made.` : ""

const baseUrlOf = Effect.map(
  BaseAddress.use((address) => address.get),
  ({ url }) => url,
)

const eventsVerified = (events: ReadonlyArray<number>, deliver: boolean) =>
  Effect.gen(function* () {
    const baseUrl = yield* baseUrlOf
    const found = yield* LateVerification.use((late) => late.events(events, { deliver, baseUrl }))
    yield* report(yield* format, lateVerdictsShape.json(found), (style) => {
      const cells = found.verdicts.map(({ id, outcome, reason }) => [
        String(id),
        OUTCOMES[outcome],
        reason === null ? "" : REASONS[reason],
      ])
      return `${columns(["EVENT", "SENDER", "REASON"], cells, { style, none: "None." })}${deliver ? `\n${delivered(deliver, found.deliveries).trim()}` : ""}`
    })
  })

const sourceVerified = (sourceId: number, deliver: boolean, dryRun: boolean) =>
  Effect.gen(function* () {
    const late = yield* LateVerification
    const baseUrl = yield* baseUrlOf
    const { seen, outcomes, deliveries } = yield* walkSource("verifying", (cursor) => {
      const query = { sourceId, deliver, baseUrl, cursor }
      return dryRun ? late.trySource(query) : late.source(query)
    })
    yield* report(yield* format, { source_id: sourceId, dry_run: dryRun, seen, outcomes, deliveries }, () =>
      [
        `${counted(seen, "event")} examined.${dryRun ? " Nothing was changed." : delivered(deliver, deliveries)}`,
        ...outcomeLines(outcomes, OUTCOMES, REASONS),
      ].join("\n"),
    )
  })

export const verify = Command.make(
  "verify",
  {
    events: idArgument("EVENT", "Event numbers").pipe(Argument.variadic()),
    source: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("Instead of single events, all of this source whose original requests are still kept"),
      Flag.optional,
    ),
    deliver: Flag.Boolean("deliver").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Deliver what is verified late, once"),
      Flag.withDefault(false),
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("With --source: only count the outcomes"),
      Flag.withDefault(false),
    ),
  },
  ({ events, source, deliver, dryRun }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        if (Option.isSome(source) === events.length > 0) {
          const message = "Give either event numbers or --source, and not both."
          return yield* new CommandError({ code: "usage", message })
        }
        if (dryRun && Option.isNone(source)) {
          return yield* new CommandError({ code: "usage", message: "--dry-run goes with --source." })
        }
        return yield* Option.isSome(source)
          ? sourceVerified(yield* sourceNamed(source.value), deliver, dryRun)
          : eventsVerified(events, deliver)
      }),
    ),
).pipe(
  Command.withDescription("Verify the sender of stored events by the recipe and the secrets that their source has now"),
)
