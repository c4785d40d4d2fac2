/** The outcomes of verifying stored events, one by one and together. */
import * as Shape from "../json/Shape.ts"
import { UNCHECKED_REASONS, type UncheckedReason } from "./LateCheck.ts"
import { REFUSAL_REASONS, type RefusalReason } from "./VerifySender.ts"

/**
 * `verified`: newly proven to come from its sender; `was_verified`: known before; `refused`: its signature does not
 * match; `unchecked`: it cannot be checked.
 */
export const LATE_OUTCOMES = ["verified", "was_verified", "refused", "unchecked"] as const
/** The outcome of checking one event. */
export type LateOutcome = (typeof LATE_OUTCOMES)[number]

/** The outcome for one event, and its reason. */
export interface LateVerdict {
  readonly id: number
  readonly outcome: LateOutcome
  /** Why it is not verified; null if it is. */
  readonly reason: RefusalReason | UncheckedReason | null
}

const verdictShape = Shape.object<LateVerdict>("The outcome for an event.", {
  id: Shape.id("The event's number.", 10417),
  outcome: Shape.oneOf(
    LATE_OUTCOMES,
    "`verified`: newly proven to come from its sender; `was_verified`: known before; `refused`: its signature does not match; `unchecked`: it cannot be checked.",
  ),
  reason: Shape.orNull(
    Shape.oneOf([...REFUSAL_REASONS, ...UNCHECKED_REASONS]),
    "Why it is not verified; null if it is.",
  ),
})

/** The outcomes for several events. */
export interface LateVerdicts {
  readonly verdicts: ReadonlyArray<LateVerdict>
  /** The number of deliveries created. */
  readonly deliveries: number
}

const verdictMembers: Shape.Members<LateVerdicts> = {
  verdicts: Shape.list(verdictShape),
  deliveries: Shape.whole("How many deliveries were created."),
}

/** The JSON of the outcomes for given events and its description. */
export const lateVerdictsShape = Shape.named(
  "LateVerdicts",
  Shape.object<LateVerdicts>("The outcome of a verification.", verdictMembers),
)

/** The outcomes for a page of a source's events. */
export interface LatePage extends LateVerdicts {
  /** The number of events examined; events that were verified before have no verdict here. */
  readonly seen: number
  /** Where the next page begins; null on the last. */
  readonly nextCursor: string | null
}

/** The JSON of the outcomes for a page and its description. */
export const latePageShape = Shape.named(
  "LatePage",
  Shape.object<LatePage>("The outcome of a verification, page by page.", {
    ...verdictMembers,
    seen: Shape.whole("How many events were examined."),
    nextCursor: Shape.orNull(Shape.text("Where the next page begins; null on the last one.")),
  }),
)
