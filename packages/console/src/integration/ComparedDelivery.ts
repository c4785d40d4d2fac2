/** A delivery that failed, beside the last one of its address that was delivered. */
import type { Attempt, Delivery } from "@data-cabinet/core/delivery/Attempt"
import type { SignedRequest } from "@data-cabinet/core/delivery/SignedRequest"
import { isJsonList, type Json } from "@data-cabinet/core/json/Json"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { Result } from "effect"
import { longText } from "../html/LongText.ts"
import type { ShowMoment } from "../html/Moment.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { outcomeBadge } from "./DeliveryReason.ts"

export interface ComparedSide {
  readonly delivery: Delivery
  /** The last one; null if its log is gone. */
  readonly attempt: Attempt | null
  /** As it would be written now; null if it cannot be. */
  readonly request: SignedRequest | null
}

/** Longer bodies are not searched for their fields. */
const MOST_CHARACTERS = 100_000
/** The most fields that are compared, and the most that are named. */
const MOST_FIELDS = 2_000
const MOST_NAMED = 20
/** A sender may nest long names: no place is followed further. */
const LONGEST_PLACE = 200

/** The places of all values: `data.payload.items[].sku`. */
const fieldsOf = (value: Json, at: string, found: Set<string>): Set<string> => {
  if (found.size >= MOST_FIELDS) return found
  if (at.length > LONGEST_PLACE) found.add(`${at.slice(0, LONGEST_PLACE)}…`)
  else if (isJsonList(value)) for (const item of value) fieldsOf(item, `${at}[]`, found)
  else if (value instanceof Map)
    for (const [name, one] of value) fieldsOf(one, at === "" ? name : `${at}.${name}`, found)
  else found.add(at)
  return found
}

/** The fields that only one of two JSON texts has; null if either is too long or is not JSON. */
export const onlyIn = (one: string, other: string): readonly [ReadonlyArray<string>, ReadonlyArray<string>] | null => {
  if (one.length > MOST_CHARACTERS || other.length > MOST_CHARACTERS) return null
  const parsed = Result.all([parseJson(one), parseJson(other)])
  if (Result.isFailure(parsed)) return null
  const [here, there] = parsed.success.map((value) => fieldsOf(value, "", new Set()))
  return [[...here!.difference(there!)], [...there!.difference(here!)]]
}

const differences = (frame: Frame, here: ComparedSide, there: ComparedSide): HtmlValue => {
  const { deliveries: words } = frame.words
  const fields = here.request && there.request && onlyIn(here.request.body, there.request.body)
  if (fields === null) return null
  const [mine, theirs] = fields
  if (mine.length + theirs.length === 0) return markup`<p class="soft">${words.sameFields}</p>`
  const named = (all: ReadonlyArray<string>) =>
    `${all.slice(0, MOST_NAMED).join(", ")}${all.length > MOST_NAMED ? ", …" : ""}`
  const fact = (name: string, all: ReadonlyArray<string>) =>
    all.length > 0 && markup`<dt>${name}</dt><dd class="mono">${named(all)}</dd>`
  return markup`<dl class="facts">${fact(words.onlyHere, mine)}${fact(words.onlyThere, theirs)}</dl>`
}

const side = (frame: Frame, title: string, { delivery, attempt, request }: ComparedSide, moment: ShowMoment): Html => {
  const { deliveries: words, integration, event } = frame.words
  const { id, lastAttempt: last, eventId } = delivery
  const of =
    eventId === null
      ? integration.ping
      : markup`<a href="${consolePath(frame, `events/${eventId}`)}">${event.title} #${eventId}</a>`
  const text = (body: string | null | undefined) =>
    body == null || body === ""
      ? markup`<p class="soft">–</p>`
      : markup`<pre class="text" tabindex="0">\n${longText(body)}</pre>`
  const facts =
    last !== null && markup`${outcomeBadge(frame, last)} ${integration.millis(last.durationMs)} · ${moment(last.at)}`
  return markup`<section><h3>${title}</h3><p>${facts}<br><a href="${consolePath(frame, `deliveries/${id}`)}">${integration.delivery} ${id}</a> · ${of}</p><h4>${integration.response}</h4>${text(attempt?.responseBody)}<h4>${words.request}</h4>${text(request?.body)}</section>`
}

/** `worked`: null if none was found. */
export const comparedPart = (
  frame: Frame,
  failed: ComparedSide,
  worked: ComparedSide | null,
  moment: ShowMoment,
): HtmlValue => {
  const { deliveries: words } = frame.words
  if (worked === null) return markup`<p class="soft">${words.noneWorked}</p>`
  return markup`${differences(frame, failed, worked)}<div class="beside">${side(frame, words.thisOne, failed, moment)}${side(frame, words.worked, worked, moment)}</div>`
}
