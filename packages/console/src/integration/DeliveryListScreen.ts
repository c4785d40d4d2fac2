/** The deliveries of all addresses, newest attempt first, by filters that every link keeps; those that are marked are sent again. */
import type { AttemptCounts } from "@data-cabinet/core/activity/ActivityStore"
import type { Address } from "@data-cabinet/core/delivery/Address"
import { type Delivery, DELIVERY_OUTCOMES, DELIVERY_STATES, DELIVERY_TYPES } from "@data-cabinet/core/delivery/Attempt"
import type { DeliveryList } from "@data-cabinet/core/delivery/Deliveries"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import { shortName, shortText } from "../html/LongText.ts"
import { momentsIn, timeText } from "../html/Moment.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { newsOf } from "../live/LiveLink.ts"
import { listExportMenu } from "../screen/ListExport.ts"
import { deliveryLists } from "../table/ListBehind.ts"
import { valueOf, withQuery, without } from "../screen/SelectionLinks.ts"
import { attemptsChart } from "./AttemptsChart.ts"
import { lastReason, outcomeBadge } from "./DeliveryReason.ts"
import { deliveryState } from "./DeliveryScreen.ts"
import { addAddress, shownUrl } from "./IntegrationScreen.ts"
import { waitingInOrder } from "./OrderFacts.ts"
import { type DeliveryCounts, deliveryCursor } from "@data-cabinet/core/delivery/DeliveryQueue"

export interface DeliveryListData {
  readonly list: DeliveryList
  /** Those to choose from; they include all that the list and its chart name. */
  readonly addresses: ReadonlyArray<Address>
  /** The first of those in order that wait at an event. */
  readonly waiting: ReadonlyArray<Address>
  readonly sources: ReadonlyArray<Source>
  /** Of the list without its filters by type and source. */
  readonly byKind: DeliveryCounts
  readonly pairs: Pairs
  readonly counts: ReadonlyArray<AttemptCounts>
  readonly now: number
  /** How many would be sent again, once they were counted. */
  readonly count: number | null
  readonly timeZone: string
}

/** The filters of the address. */
export const DELIVERY_FILTERS = [
  "state",
  "outcome",
  "type",
  "address_id",
  "source_id",
  "event_id",
  "from",
  "to",
] as const

/** In the choice of states, for deliveries that wait after a failed attempt; not a separate state. */
export const RETRYING = "retrying"

const filters = (frame: Frame, { addresses, sources, pairs }: DeliveryListData): Html => {
  const { event: words, integration, table, deliveries } = frame.words
  const now = (name: string) => valueOf(pairs, name) ?? ""
  const select = (name: string, label: string, choices: ReadonlyArray<readonly [string, string]>) =>
    markup`<select name="${name}" aria-label="${label}">${options(choices, now(name))}</select>`
  const time = (name: string, label: string) =>
    markup`<label>${label} (UTC) <input type="datetime-local" name="${name}" value="${now(name)}"></label>`
  return markup`<form class="tools flat" method="get" action="${consolePath(frame, "deliveries")}" role="search">
${select("state", words.state, [
  ["", words.allStates],
  [RETRYING, deliveries.retrying],
  ...DELIVERY_STATES.map((state) => [state, words.deliveryStates[state] ?? state] as const),
])}
${select("outcome", deliveries.outcome, [["", deliveries.allOutcomes], ...DELIVERY_OUTCOMES.map((one) => [one, deliveries.outcomes[one]] as const)])}
${select("type", deliveries.type, [["", deliveries.allTypes], ...DELIVERY_TYPES.map((one) => [one, deliveries.types[one]] as const)])}
${select("address_id", words.address, [["", deliveries.allAddresses], ...addresses.map((one) => [String(one.id), shortText(shownUrl(frame, one))] as const)])}
${select("source_id", words.source, [["", words.allSources], ...sources.map(({ id, name }) => [String(id), name] as const)])}
<input name="event_id" inputmode="numeric" pattern="[0-9]*" size="10" value="${now("event_id")}" aria-label="${integration.eventNumber}" placeholder="${integration.eventNumber}">
${time("from", table.from)}${time("to", table.to)}
<button>${table.apply}</button></form>`
}

const isMarkable = (frame: Frame, { type }: Delivery): boolean => may(frame, "delivery.change") && type !== "ping"

const line = (frame: Frame, data: DeliveryListData, one: Delivery): Html => {
  const { event: words, deliveries, integration } = frame.words
  const moment = momentsIn(data.timeZone)
  const address = data.addresses.find(({ id }) => id === one.addressId)
  const { lastAttempt: last } = one
  const event = one.eventId === null ? integration.ping : `${words.title} #${one.eventId}`
  const to = address === undefined ? `${words.address} ${one.addressId}` : shownUrl(frame, address)
  const reason = last === null ? deliveries.notYet : lastReason(frame, last)
  const href = consolePath(frame, deliveryLists.within(`deliveries/${one.id}`, withQuery("deliveries", data.pairs)))
  return markup`<tr id="delivery-${one.id}"><td class="mark">${isMarkable(frame, one) && markup`<input type="checkbox" name="delivery" value="${one.id}" form="resend" aria-label="${integration.delivery} ${one.id}">`}</td>
<td class="nowrap">${moment(last?.at ?? one.createdAt)}</td><td>${last !== null && outcomeBadge(frame, last)}</td>
<th scope="row"><a href="${href}">${shortName(to)}</a><small>${event}${last !== null && last.number > 1 && ` · ${deliveries.attempt(last.number)}`}${reason !== null && ` · ${reason}`}</small></th>
<td class="wide-only">${one.state === "delivered" && last?.outcome === "delivered" ? null : one.state === "due" ? markup`<span class="soft">${integration.nextTry}</span> ${moment(one.dueAt)}` : deliveryState(frame, one)}</td><td class="n wide-only nowrap">${last !== null && integration.millis(last.durationMs)}</td></tr>`
}

const table = (frame: Frame, data: DeliveryListData): Html => {
  const { event: words, deliveries, integration } = frame.words
  return markup`<div class="card flush"><table class="list stacked" data-walk><thead><tr><th scope="col" class="mark"><span class="hide">${words.acts}</span></th><th scope="col">${deliveries.lastAttempt}</th><th scope="col">${deliveries.outcome}</th><th scope="col">${integration.delivery}</th><th scope="col" class="wide-only">${words.state}</th><th scope="col" class="n wide-only">${integration.duration}</th></tr></thead><tbody>${data.list.items.map((one) => line(frame, data, one))}</tbody></table></div><aside id="panel" class="panel" hidden aria-label="${integration.delivery}" tabindex="-1"></aside>`
}

const nothing = (frame: Frame, { list, pairs, timeZone, addresses, sources }: DeliveryListData): Html => {
  const { deliveries: words, integration, table: ofTable } = frame.words
  if (list.searchedTo !== null) {
    return markup`<div class="empty"><h2>${words.noneSince(timeText(timeZone)(list.searchedTo))}</h2><p>${words.olderUnsearched}</p></div>`
  }
  const narrowed = pairs.some(([, value]) => value !== "")
  return narrowed
    ? markup`<div class="empty"><h2>${words.noMatch}</h2><p><a href="${consolePath(frame, "deliveries")}">${ofTable.clear}</a></p></div>`
    : markup`<div class="empty"><h2>${words.none}</h2><p>${addresses.length === 0 ? integration.noAddressesHint : words.noneHint}</p>${addresses.length === 0 && addAddress(frame, sources)}</div>`
}

/** Nothing was ever delivered: there is nothing to filter. */
const isUnused = ({ list, pairs, addresses }: DeliveryListData): boolean =>
  addresses.length === 0 && list.items.length === 0 && list.searchedTo === null && pairs.length === 0

const resendMarked = (frame: Frame, { list }: DeliveryListData): HtmlValue =>
  list.items.some((one) => isMarkable(frame, one)) &&
  markup`<div class="marked">${postForm({
    id: "resend",
    path: consolePath(frame, "deliveries/resend"),
    kind: "row wrap",
    body: markup`<button>${frame.words.integration.sendAgain}</button><span class="soft">${frame.words.deliveries.marked}</span><label class="choice" hidden><input type="checkbox" data-all="resend"> ${frame.words.event.markAll}</label>`,
  })}</div>`

/** The filters of the address alone, without the page. */
const onlyFilters = (pairs: Pairs): Pairs =>
  DELIVERY_FILTERS.flatMap((name) => {
    const value = valueOf(pairs, name) ?? ""
    return value === "" ? [] : [[name, value] as const]
  })

const newsLink = (frame: Frame, pairs: Pairs): Html => {
  const filter = onlyFilters(pairs)
  return newsOf(frame, {
    from: withQuery(consolePath(frame, "deliveries/live"), filter),
    href: withQuery(consolePath(frame, "deliveries"), filter),
    some: frame.words.deliveries.newAttempts,
  })
}

/** The filter of the list as fields of a form; null without one. */
const filterFields = (pairs: Pairs): HtmlValue => {
  const fields = onlyFilters(pairs)
  return fields.length === 0
    ? null
    : markup`${fields.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`)}`
}

/** Counts what the filter finds, and then sends it again. */
const resendAll = (frame: Frame, { pairs, count, list }: DeliveryListData): HtmlValue => {
  const { deliveries: words, integration } = frame.words
  const fields = filterFields(pairs)
  if (!may(frame, "delivery.change") || fields === null || list.items.length === 0) return null
  const path = consolePath(frame, "deliveries/resend-all")
  if (count === null) return postForm({ path, body: markup`${fields}<button>${words.sendAll}</button>` })
  const confirm = markup`${fields}<input type="hidden" name="confirm" value="yes"><button class="main">${integration.sendNow}</button>`
  return markup`<div class="box" role="status"><div class="grow"><p><b>${integration.willSend(count)}</b></p>${count > 0 && postForm({ path, body: confirm })}</div></div>`
}

export const deliveryListScreen = (frame: Frame, data: DeliveryListData): Screen => {
  const { list, pairs } = data
  const { sections, table: words, deliveries } = frame.words
  const here = consolePath(frame, "deliveries")
  const first = without(pairs, "before")
  const older = list.items.length === 0 && list.searchedTo !== null ? deliveries.searchOlder : words.nextPage
  return {
    title: sections.deliveries,
    section: "deliveries",
    walked: true,
    main: markup`<div class="head"><h1>${sections.deliveries}</h1><span class="row wrap">${newsLink(frame, pairs)}${list.items.length > 0 && listExportMenu(frame, "deliveries", onlyFilters(pairs))}${data.count === null && resendAll(frame, data)}</span></div>${attemptsChart(frame, data)}${!isUnused(data) && filters(frame, data)}${data.count !== null && resendAll(frame, data)}${waitingInOrder(frame, data.waiting, data.timeZone)}
${resendMarked(frame, data)}${list.items.length === 0 ? nothing(frame, data) : table(frame, data)}
<div class="foot flat"><span>${first.length < pairs.length && markup`<a href="${withQuery(here, first)}">↑ ${words.firstPage}</a>`}</span><span>${list.next !== null && markup`<a rel="next" href="${withQuery(here, [...first, ["before", deliveryCursor(list.next)]])}">${older} →</a>`}</span></div>`,
  }
}
