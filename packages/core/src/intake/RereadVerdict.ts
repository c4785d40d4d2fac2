/** The outcomes of reading events again, one by one and together. */
import { type Reread, type RereadAs, rereadOriginal } from "./RereadOriginal.ts"
import type { JsonObject } from "../json/Json.ts"
import { ownJson } from "../json/ParseJson.ts"
import { jsonText } from "../json/JsonText.ts"
import * as Shape from "../json/Shape.ts"
import { Result } from "effect"
import { markedAgain } from "../schema/MarkEvents.ts"
import { compileSchema, type OwnSchema } from "../schema/OwnSchema.ts"
import { REREAD_REASON_WORDS, REREAD_REASONS, RereadError, type RereadReason } from "./RereadError.ts"
import { exampleOf, type RereadExample, rereadExampleShape } from "./RereadExample.ts"
import type { RereadEvent } from "./RereadStore.ts"

/** `changed`: the event reads differently now; `unchanged`: it reads as before; `refused`: it cannot be read again. */
export const REREAD_OUTCOMES = ["changed", "unchanged", "refused"] as const
/** One of `REREAD_OUTCOMES`. */
export type RereadOutcome = (typeof REREAD_OUTCOMES)[number]

/** The outcome for one event. */
export interface RereadVerdict {
  readonly id: number
  readonly outcome: RereadOutcome
  /** Why it cannot be read again; null if it can. */
  readonly reason: RereadReason | null
  /** How many characters have no meaning in the charset. */
  readonly replaced: number
}

const verdictShape = Shape.object<RereadVerdict>("The outcome for an event.", {
  id: Shape.id("The event's number.", 10417),
  outcome: Shape.oneOf(
    REREAD_OUTCOMES,
    "`changed`: it reads differently now; `unchanged`: it reads as before; `refused`: it cannot be read again.",
  ),
  reason: Shape.orNull(Shape.oneOf(REREAD_REASONS), "Why it cannot be read again; null if it can."),
  replaced: Shape.whole("How many characters have no meaning in the charset, and are U+FFFD."),
})

/** The outcomes for several events. */
export interface RereadVerdicts {
  /** In the order of the events. */
  readonly verdicts: ReadonlyArray<RereadVerdict>
  /** The first event that changes; null if none does. */
  readonly example: RereadExample | null
  /** How many deliveries that makes due; if nothing is changed, how many would be sent again. */
  readonly deliveries: number
}

const verdictMembers: Shape.Members<RereadVerdicts> = {
  verdicts: Shape.list(verdictShape),
  example: rereadExampleShape,
  deliveries: Shape.whole("How many deliveries that makes due; with `dry_run`, how many would be sent again."),
}

/** The JSON of the outcomes for given events and its description. */
export const rereadVerdictsShape = Shape.named(
  "RereadVerdicts",
  Shape.object<RereadVerdicts>("The outcome of a rereading.", verdictMembers),
)

/** The outcomes for a page of a source's events. */
export interface RereadPage extends RereadVerdicts {
  /** How many events were examined; those without an original, or with one in JSON, have no verdict. */
  readonly seen: number
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** The JSON of the outcomes for a page and its description. */
export const rereadPageShape = Shape.named(
  "RereadPage",
  Shape.object<RereadPage>("The outcome of a rereading, page by page.", {
    ...verdictMembers,
    seen: Shape.whole("How many events were examined."),
    nextCursor: Shape.orNull(Shape.text("Where the next page begins; null on the last one.")),
  }),
)

/** How many events a refusal names. */
const MAX_NAMED = 10

/** The refusal of a call none of whose events can be read again. */
export const noneReread = (verdicts: ReadonlyArray<RereadVerdict>): RereadError => {
  const each = verdicts.flatMap(({ id, reason }) => (reason === null ? [] : [{ id, reason }]))
  const words = each
    .slice(0, MAX_NAMED)
    .map(({ id, reason }) => `Event ${id} cannot be read again: ${REREAD_REASON_WORDS[reason]}.`)
  const more = each.length > MAX_NAMED ? [`Nor can ${each.length - MAX_NAMED} more.`] : []
  const [first] = each
  const reason = first === undefined ? {} : { reason: first.reason }
  return new RereadError({ code: "not_reread", message: [...words, ...more].join(" "), ...reason })
}

/** Reads events in one charset, and collects their verdicts. */
export class RereadCollector {
  readonly #as: RereadAs
  readonly #verdicts = new Map<number, RereadVerdict>()
  readonly #examples = new Map<number, RereadExample>()
  readonly #schemas = new Map<string, OwnSchema | undefined>()

  constructor(as: RereadAs) {
    this.#as = as
  }

  /** The event as it reads now; null if it does not change. */
  readonly decide = (event: RereadEvent): Reread | null => {
    const { id } = event
    const read = readAgain(event, this.#as)
    if (typeof read === "string") {
      this.#verdicts.set(id, { id, outcome: "refused", reason: read, replaced: 0 })
      return null
    }
    const isChanged = read.changed.length > 0
    const outcome = isChanged ? "changed" : "unchanged"
    this.#verdicts.set(id, { id, outcome, reason: null, replaced: read.replaced })
    if (isChanged) this.#examples.set(id, exampleOf(id, read.changed))
    return isChanged ? this.#judged(event, read) : null
  }

  #judged({ schema }: RereadEvent, read: Reread): Reread {
    const payload = markedAgain(this.#schemaOf(schema), read.payload)
    return payload === read.payload ? read : { ...read, payload, text: jsonText(payload) }
  }

  /** Undefined as well for one that is not understood: it marks nothing. */
  #schemaOf(text: string | null): OwnSchema | undefined {
    if (text === null) return undefined
    if (!this.#schemas.has(text)) this.#schemas.set(text, Result.getOrUndefined(compileSchema(text)))
    return this.#schemas.get(text)
  }

  /** The verdicts of these events, in their order. */
  of(ids: ReadonlyArray<number>): Omit<RereadVerdicts, "deliveries"> {
    const verdicts = ids.flatMap((id) => this.#verdicts.get(id) ?? [])
    const first = verdicts.find(({ outcome }) => outcome === "changed")
    return { verdicts, example: first === undefined ? null : this.#examples.get(first.id)! }
  }
}

const readAgain = ({ inTrash, original, payload }: RereadEvent, as: RereadAs): Reread | RereadReason => {
  if (inTrash) return "in_trash"
  if (original === null) return "no_original"
  return rereadOriginal(original, ownJson(payload) as JsonObject, as)
}
