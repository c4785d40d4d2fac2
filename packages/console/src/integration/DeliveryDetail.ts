/** What a delivery's screen and the panel beside the list show: why it failed and what follows, and its parts as tabs. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { Attempt, Delivery } from "@data-cabinet/core/delivery/Attempt"
import { isSkipped } from "@data-cabinet/core/delivery/FailureReason"
import type { SignedRequest } from "@data-cabinet/core/delivery/SignedRequest"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { longText, shortName } from "../html/LongText.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { deliveryLists } from "../table/ListBehind.ts"
import { attemptTimeline, attemptTable, timingBar } from "./AttemptTimeline.ts"
import { type ComparedSide, comparedPart } from "./ComparedDelivery.ts"
import { lastReason, nextStep, outcomeBadge } from "./DeliveryReason.ts"
import { shownUrl } from "./IntegrationScreen.ts"
import { requestPart } from "./RequestText.ts"

export const DELIVERY_TABS = ["response", "request", "attempts", "compare"] as const
export type DeliveryTab = (typeof DELIVERY_TABS)[number]

export interface DeliveryData {
  readonly delivery: Delivery
  /** Null if it was removed. */
  readonly address: Address | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly tab: DeliveryTab
  /** Null if it cannot be written, or is not shown. */
  readonly request: SignedRequest | null
  /** The last delivery of its address that was delivered; null if none was found, or is not shown. */
  readonly worked: ComparedSide | null
  /** The list that it was opened from, below `/console/`. */
  readonly list: string
  readonly timeZone: string
}

/** Only such a one is compared with one that worked. */
export const isFailed = ({ lastAttempt: last }: Delivery): boolean => last !== null && last.outcome !== "delivered"

/** `panel`: the tabs stay in the panel. */
const tabs = (frame: Frame, { delivery, tab, list }: DeliveryData, panel: boolean): Html => {
  const { id, attempts } = delivery
  const { integration, event, deliveries } = frame.words
  const names: Readonly<Record<DeliveryTab, string>> = {
    response: integration.response,
    request: deliveries.request,
    attempts: `${event.attempts} ${attempts}`,
    compare: deliveries.compare,
  }
  const shown = DELIVERY_TABS.filter((one) => one !== "compare" || isFailed(delivery))
  const link = (one: DeliveryTab) => {
    const pairs = one === "response" ? [] : ([["tab", one]] as const)
    const href = consolePath(frame, deliveryLists.within(`deliveries/${id}`, list, pairs))
    return markup`<li><a href="${href}"${panel && new Html(' data-into="panel"')}${one === tab && new Html(' aria-current="page"')}>${names[one]}</a></li>`
  }
  return markup`<nav class="tabs" aria-label="${integration.delivery}"><ul>${shown.map(link)}</ul></nav>`
}

/** The response to the last attempt. */
const response = (frame: Frame, [last]: ReadonlyArray<Attempt>): HtmlValue => {
  const { integration: words, deliveries } = frame.words
  if (last === undefined) return markup`<p class="soft">${deliveries.notYet}</p>`
  const { status, peer, durationMs, timing, responseBody } = last
  const fact = (name: string, value: HtmlValue) =>
    value !== null && value !== false && markup`<dt>${name}</dt><dd>${value}</dd>`
  const body =
    responseBody === null || responseBody === ""
      ? markup`<p class="soft">${isSkipped(last) ? words.skipped : status === null ? words.noResponse : deliveries.emptyBody}</p>`
      : markup`<pre class="text" tabindex="0">\n${longText(responseBody)}</pre>`
  return markup`${body}<dl class="facts">${fact(deliveries.status, status)}${fact(words.duration, words.millis(durationMs))}${fact(deliveries.timing, timing !== null && timingBar(frame, timing))}${fact(deliveries.connectedTo, peer)}</dl>`
}

const part = (frame: Frame, data: DeliveryData, url: string): HtmlValue => {
  const { tab, attempts, request, timeZone } = data
  if (tab === "compare") {
    const failed = { delivery: data.delivery, attempt: attempts[0] ?? null, request }
    return comparedPart(frame, failed, data.worked, momentsIn(timeZone))
  }
  if (tab === "request") return requestPart(frame, request, url)
  return tab === "attempts" && attempts.length > 0 ? attemptTable(frame, attempts, timeZone) : response(frame, attempts)
}

export const deliveryDetail = (frame: Frame, data: DeliveryData, panel: boolean): Html => {
  const { delivery, address, attempts, timeZone } = data
  const { integration: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const { lastAttempt: last } = delivery
  const reason = last === null ? null : lastReason(frame, last)
  const url = address === null ? `${event.address} ${delivery.addressId}` : shownUrl(frame, address)
  const to =
    address === null ? url : markup`<a href="${consolePath(frame, `addresses/${address.id}`)}">${shortName(url)}</a>`
  const of =
    delivery.eventId === null
      ? words.ping
      : markup`<a href="${consolePath(frame, `events/${delivery.eventId}`)}">#${delivery.eventId}</a>`
  return markup`<p>${last !== null && markup`${outcomeBadge(frame, last)} `}${reason !== null && markup`<b>${reason}</b> `}${nextStep(frame, delivery, address, moment)}</p>${attemptTimeline(frame, attempts, delivery.dueAt, timeZone)}<dl class="facts"><dt>${event.address}</dt><dd>${to}</dd><dt>${event.title}</dt><dd>${of}</dd><dt>${words.createdAt}</dt><dd>${moment(delivery.createdAt)}</dd></dl>${tabs(frame, data, panel)}${part(frame, data, url)}`
}
