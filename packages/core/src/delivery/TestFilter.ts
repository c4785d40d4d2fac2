/**
 * Whether an address would currently receive an event, and if not, why. It helps owners when a delivery is missing, or
 * before they trust a filter.
 */
import * as Shape from "../json/Shape.ts"
import { jsonText } from "../json/JsonText.ts"
import { ownJson } from "../json/ParseJson.ts"
import type { Json, JsonObject } from "../json/Json.ts"
import { SIGNS } from "../selection/Selection.ts"
import type { Address } from "./Address.ts"
import { compileFilter, type FieldFilter, fieldFilterMembers, FilteredFields } from "./FieldFilter.ts"

/** The facts of an event that decide its deliveries. */
export interface JudgedEvent {
  readonly id: number
  readonly sourceId: number
  /** As JSON text. */
  readonly payload: string
  readonly repeatOf: number | null
  readonly empty: boolean
  readonly history: boolean
  /** Null if its source does not verify its sender. */
  readonly verified: boolean | null
  readonly spam: boolean
  /** The event is a notice about this address. */
  readonly aboutIt: boolean
  readonly deleted: boolean
  /** The event was accepted before the address existed. */
  readonly older: boolean
  /** The event's delivery to the address; null without one. */
  readonly deliveryId: number | null
}

/** A condition, the event's value, and whether the condition holds. */
export interface JudgedCondition extends FieldFilter {
  readonly holds: boolean
  /** The event's value of the field, as JSON; null if missing. A long value is cut. */
  readonly value: string | null
}

/** Why an event is not sent. */
export type NotSent = (typeof NOT_SENT)[number]
/** All reasons, in the order in which they are listed. */
export const NOT_SENT = [
  "source",
  "repeat",
  "empty",
  "history",
  "unverified",
  "spam",
  "about_it",
  "deleted",
  "older",
  "condition",
] as const

/** A reason, with its explanation. */
export interface NotSentReason {
  readonly code: NotSent
  /** In words. */
  readonly message: string
}

/** The result of testing an address against an event. */
export interface FilterTest {
  readonly addressId: number
  readonly eventId: number
  /** Whether the address would currently be sent the event. */
  readonly passes: boolean
  /** The reasons if it would not. */
  readonly reasons: ReadonlyArray<NotSentReason>
  readonly conditions: ReadonlyArray<JudgedCondition>
  /** The delivery that was created for it, by the filter at that time; null if none was. */
  readonly deliveryId: number | null
}

/** A test of a filter as the APIs show it. */
export const filterTestShape = Shape.named(
  "AddressTest",
  Shape.object<FilterTest>("Whether an address would receive an event.", {
    addressId: Shape.id("The address's id."),
    eventId: Shape.id("The event's number.", 10417),
    passes: Shape.flag("Whether the address would be sent the event."),
    reasons: Shape.list(
      Shape.object<NotSentReason>("A reason.", {
        code: Shape.oneOf(NOT_SENT),
        message: Shape.text("The reason in words."),
      }),
      "Why not.",
    ),
    conditions: Shape.list(
      Shape.object<JudgedCondition>("A condition.", {
        ...fieldFilterMembers,
        holds: Shape.flag("Whether it holds."),
        value: Shape.orNull(
          Shape.text("The event's value of the field, as JSON text, cut after 200 characters; null: no such field."),
        ),
      }),
      "The filter's conditions.",
    ),
    deliveryId: Shape.orNull(Shape.id("The delivery created for it; null: none.", 731)),
  }),
)

const SHOWN = 200

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…`.toWellFormed() : text)

const WORDS: Readonly<Record<FieldFilter["fo"], string>> = {
  ...SIGNS,
  empty: "is empty",
  notempty: "is not empty",
}

/** Writes a condition as a person would. */
export const filterInWords = ({ fc, fo, fv }: FieldFilter): string =>
  fo === "empty" || fo === "notempty" ? `${fc} ${WORDS[fo]}` : `${fc} ${WORDS[fo]} ${fv}`

export const testFilter = (address: Address, event: JudgedEvent): FilterTest => {
  const payload = payloadOf(event)
  const fields = new FilteredFields(payload)
  const conditions = address.filters.map((filter) => {
    const value = payload.get(filter.fc)
    return {
      ...filter,
      holds: compileFilter(filter)(fields),
      value: value === undefined ? null : cut(jsonText(value)),
    }
  })
  const reasons = [...reasonsOf(address, event), ...conditions.filter(({ holds }) => !holds).map(failed)]
  return {
    addressId: address.id,
    eventId: event.id,
    passes: reasons.length === 0,
    reasons,
    conditions,
    deliveryId: event.deliveryId,
  }
}

const failed = (condition: JudgedCondition): NotSentReason => {
  const has = condition.value === null ? "the event has no such field" : `the event has ${condition.value}`
  return { code: "condition", message: `The condition ${filterInWords(condition)} does not hold: ${has}.` }
}

const reason = (code: NotSent, applies: boolean, message: string): ReadonlyArray<NotSentReason> =>
  applies ? [{ code, message }] : []

const reasonsOf = ({ sources }: Address, event: JudgedEvent): ReadonlyArray<NotSentReason> => [
  ...reason(
    "source",
    sources !== "all" && !sources.includes(event.sourceId),
    `The address does not receive events of source ${event.sourceId}.`,
  ),
  ...reason("repeat", event.repeatOf !== null, `The event repeats event ${event.repeatOf}.`),
  ...reason("empty", event.empty, "The event has no filled field."),
  ...reason("history", event.history, "The event comes from a file or from the first run of a poll."),
  ...reason("unverified", event.verified === false, "The event's sender could not be verified."),
  ...reason("spam", event.spam, "The event is spam by the rules of its source."),
  ...reason("about_it", event.aboutIt, "The event is a notice about this address."),
  ...reason("deleted", event.deleted, "The event was deleted."),
  ...reason("older", event.older, "The event was accepted before the address was added."),
]

/** The payload of a purged event is null. */
const payloadOf = ({ payload }: JudgedEvent): JsonObject => {
  const parsed = ownJson(payload)
  return parsed instanceof Map ? parsed : new Map<string, Json>()
}
