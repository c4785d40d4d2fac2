/** The events of a cabinet, the newest first, by filters that every link keeps. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { EventList } from "@data-cabinet/core/event/EventBrowser"
import { EVENT_STATES, type ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { ICONS } from "../html/Icons.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { type Live, liveLink } from "../live/LiveLink.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { eventLists } from "../table/ListBehind.ts"
import { valueOf, withQuery, without } from "../screen/SelectionLinks.ts"
import { preview, type ReadEvent, readEvent } from "./EventJson.ts"
import { type TimeText, timeText } from "../html/Moment.ts"
import { eventTabs } from "../html/Tabs.ts"

export interface EventListData {
  readonly list: EventList
  readonly sources: ReadonlyArray<Source>
  readonly pairs: Pairs
  readonly timeZone: string
  /** Null for the trash, and while its state is unknown. */
  readonly live: Live | null
  /** The list is the trash, latest trashed event first. */
  readonly trash: boolean
}

const option = (value: string, text: string, chosen: string) =>
  markup`<option value="${value}"${value === chosen && new Html(" selected")}>${text}</option>`

const filters = (frame: Frame, { sources, pairs, trash }: EventListData): Html => {
  const { event: words } = frame.words
  const now = (name: string) => valueOf(pairs, name) ?? ""
  const path = consolePath(frame, trash ? "trash" : "events")
  return markup`<form class="tools flat" method="get" action="${path}" role="search">
<label class="field">${ICONS.search}<input type="search" name="text" value="${now("text")}" aria-label="${words.find}" placeholder="${words.find}" data-key="/"></label>
<select name="source_id" aria-label="${words.source}">${option("", words.allSources, now("source_id"))}${sources.map(({ id, name }) => option(String(id), name, now("source_id")))}</select>
<select name="channel" aria-label="${words.channel}">${option("", words.allChannels, now("channel"))}${CHANNELS.map((one) => option(one, words.channels[one] ?? one, now("channel")))}</select>
${
  !trash &&
  markup`<select name="state" aria-label="${words.state}">${option("", words.allStates, now("state"))}${EVENT_STATES.map((one) => option(one, words.states[one] ?? one, now("state")))}</select>`
}
<button>${frame.words.table.apply}</button></form>`
}

const stateOf = ({ words: { event: words } }: Frame, one: ListedEvent, event: ReadEvent): Html => {
  if (one.state === "repeat") return badge("quiet", words.repeatOf(event.repeatOf ?? ""))
  if (one.state === "trashed" || one.state === "purged") return badge("bad", words.states[one.state] ?? one.state)
  if (one.state === "spam") {
    const short = words.states["spam"] ?? ""
    return badge("bad", one.spamReason === null ? short : `${short}: ${words.spamInShort[one.spamReason]}`)
  }
  if (event.verified === false) return badge("warn", words.states["unverified"] ?? "")
  if (event.schemaFault !== null) return badge("warn", words.states["invalid"] ?? "")
  if (one.empty) return badge("warn", words.states["empty"] ?? "")
  return one.rowWaits ? badge("warn", words.rowWaits) : badge("good", words.states["row"] ?? "")
}

const deliverySummary = ({ due, delivered, failed, cancelled }: ListedEvent["deliveries"]): string => {
  const all = due + delivered + failed + cancelled
  return all === 0 ? "–" : `${delivered}/${all}`
}

const trashedBy = ({ trashedBy: by }: ListedEvent): HtmlValue => by !== null && markup`<small>${by.name}</small>`

/** Actions on the marked events. */
const acts = (frame: Frame, { trash, list }: EventListData): HtmlValue => {
  const { event: words } = frame.words
  const all = (to: string) =>
    markup`<label class="choice" hidden><input type="checkbox" data-all="${to}"> ${words.markAll}</label>`
  const form = (to: string, inside: HtmlValue) =>
    postForm({ id: to, path: consolePath(frame, `events/${to}`), kind: "row wrap", body: markup`${inside}${all(to)}` })
  if (!may(frame, "event.trash") || list.items.length === 0) return null
  if (!trash)
    return markup`<div class="marked">${form("trash", markup`<button>${words.toTrash}</button><span class="soft">${words.marked}</span>`)}</div>`
  const erase =
    may(frame, "event.purge") &&
    markup`<details><summary>${words.erase}</summary><p>${words.eraseHint}</p><p class="row wrap"><label>${words.typeCount}<input name="confirm" inputmode="numeric" autocomplete="off" form="restore"></label><button class="danger" form="restore" formaction="${consolePath(frame, "events/purge")}">${words.erase}</button></p></details>`
  return markup`<div class="marked">${form("restore", markup`<button>${words.putBack}</button><span class="soft">${words.marked}</span>`)}<p class="soft">${words.putBackHint}</p>${erase}</div>`
}

/** The checkbox before an event; null where a list has no actions. */
type Mark = ((event: ReadEvent, listed: ListedEvent) => HtmlValue) | null

interface TableOptions {
  readonly mark: Mark
  /** The address of the list, below `/console/`, for the way back from an event. */
  readonly list: string
}

const eventLine = (frame: Frame, one: ListedEvent, time: TimeText, { mark, list }: TableOptions): Html => {
  const event = readEvent(one.event)
  const href = consolePath(frame, eventLists.within(`events/${event.id}`, list))
  return markup`<tr id="event-${event.id}">${mark?.(event, one) ?? null}<th scope="row"><a href="${href}">#${event.id}</a></th>
<td class="soft nowrap"><time datetime="${event.receivedAt}">${time(event.receivedAt)}</time></td><td class="wide-only from">${event.source}</td>
<td class="mono clip"><span>${preview(event)}</span></td><td class="nowrap">${stateOf(frame, one, event)}${trashedBy(one)}</td><td class="n soft wide-only">${deliverySummary(one.deliveries)}</td></tr>`
}

export const eventTable = (
  frame: Frame,
  items: ReadonlyArray<ListedEvent>,
  timeZone: string,
  { mark = null, list = "events" }: Partial<TableOptions> = {},
): Html => {
  const { event: words } = frame.words
  const time = timeText(timeZone)
  return markup`<div class="card flush"><table class="list events"><thead><tr>${mark !== null && markup`<td></td>`}<th scope="col">${words.number}</th><th scope="col">${words.received}</th><th scope="col" class="wide-only">${words.source}</th><th scope="col">${words.payload}</th><th scope="col">${words.state}</th><th scope="col" class="n wide-only">${words.delivered}</th></tr></thead>
<tbody>${items.map((one) => eventLine(frame, one, time, { mark, list }))}</tbody></table></div>`
}

/** The text and the state of an event are unknown until it has been read. */
const liveOf = (frame: Frame, { live, pairs }: EventListData): HtmlValue => {
  if (live === null) return null
  const isExact = ["text", "state"].every((name) => (valueOf(pairs, name) ?? "") === "")
  const href = withQuery(consolePath(frame, "events"), without(pairs, "cursor"))
  return liveLink(frame, { live, href, counts: isExact ? "events" : "some" })
}

export const eventListScreen = (frame: Frame, data: EventListData): Screen => {
  const { event: words } = frame.words
  const { list, pairs, trash } = data
  const path = consolePath(frame, "events")
  const here = trash ? consolePath(frame, "trash") : path
  const marks = may(frame, "event.trash")
  const mark = ({ id, sourceId }: ReadEvent, { state }: ListedEvent) =>
    markup`<td class="mark">${state !== "purged" && (trash || state !== "trashed") && markup`<input type="checkbox" name="event" value="${sourceId}.${id}" form="${trash ? "restore" : "trash"}" aria-label="${words.title} #${id}">`}</td>`
  const narrowed = without(pairs, "cursor").some(([, value]) => value !== "")
  const notYet =
    list.searchedTo !== null &&
    markup`<div class="empty"><h2>${words.noneSince(timeText(data.timeZone)(list.searchedTo))}</h2><p>${words.olderUnsearched}</p></div>`
  const address = withQuery(trash ? "trash" : "events", pairs)
  const reached =
    list.items.length > 0 &&
    list.searchedTo !== null &&
    markup`<p class="soft">${words.searchedTo(timeText(data.timeZone)(list.searchedTo))}</p>`
  const none = markup`<div class="empty"><h2>${narrowed ? words.noMatch : trash ? words.noTrash : words.none}</h2>${narrowed ? markup`<p><a href="${here}">${frame.words.table.clear}</a></p>` : markup`<p>${trash ? words.noTrashHint : words.noneHint}</p>`}</div>`
  return {
    title: trash ? words.trash : words.list,
    section: "events",
    main: markup`<div class="head"><h1>${trash ? words.trash : words.list}</h1>${liveOf(frame, data)}</div>${eventTabs(frame, trash ? "trash" : "events")}${filters(frame, data)}
${acts(frame, data)}${
      list.items.length === 0
        ? notYet || none
        : eventTable(frame, list.items, data.timeZone, { mark: marks ? mark : null, list: address })
    }${reached}
<div class="foot flat"><span>${valueOf(pairs, "cursor") !== undefined && markup`<a href="${withQuery(here, without(pairs, "cursor"))}">↑ ${frame.words.table.firstPage}</a>`}</span><span>${
      list.nextCursor !== null &&
      markup`<a rel="next" href="${withQuery(here, [...without(pairs, "cursor"), ["cursor", list.nextCursor]])}">${list.searchedTo !== null ? words.searchOlder : frame.words.table.nextPage} →</a>`
    }</span></div>`,
  }
}
