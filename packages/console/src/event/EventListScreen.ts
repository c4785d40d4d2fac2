/** The events of a cabinet, the newest first, by filters that every link keeps. */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import type { EventList } from "@data-cabinet/core/event/EventBrowser"
import { EVENT_STATES, type ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { ICONS } from "../html/Icons.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery, without } from "../table/SelectionLinks.ts"
import { timeText } from "../table/TimeText.ts"
import { preview, readEvent } from "./EventJson.ts"

export interface EventListData {
  readonly list: EventList
  readonly sources: ReadonlyArray<Source>
  readonly pairs: Pairs
  readonly timeZone: string
}

const option = (value: string, text: string, chosen: string) =>
  markup`<option value="${value}"${value === chosen && new Html(" selected")}>${text}</option>`

const filters = (frame: Frame, { sources, pairs }: EventListData): Html => {
  const { event: words } = frame.words
  const now = (name: string) => valueOf(pairs, name) ?? ""
  return markup`<form class="tools flat" method="get" role="search">
<label class="field">${ICONS.search}<input type="search" name="text" value="${now("text")}" aria-label="${words.find}" placeholder="${words.find}" data-key="/"></label>
<select name="source_id" aria-label="${words.source}">${option("", words.allSources, now("source_id"))}${sources.map(({ id, name }) => option(String(id), name, now("source_id")))}</select>
<select name="channel" aria-label="${words.channel}">${option("", words.allChannels, now("channel"))}${CHANNELS.map((one) => option(one, words.channels[one] ?? one, now("channel")))}</select>
<select name="state" aria-label="${words.state}">${option("", words.allStates, now("state"))}${EVENT_STATES.map((one) => option(one, words.states[one] ?? one, now("state")))}</select>
<button>${frame.words.table.apply}</button></form>`
}

const stateOf = ({ words: { event: words } }: Frame, one: ListedEvent, repeatOf: string | null): Html => {
  if (one.state === "repeat") return badge("quiet", words.repeatOf(repeatOf ?? ""))
  if (one.state === "trashed" || one.state === "purged") return badge("bad", words.states[one.state] ?? one.state)
  if (one.empty) return badge("warn", words.states["empty"] ?? "")
  return one.rowWaits ? badge("warn", words.rowWaits) : badge("good", words.states["row"] ?? "")
}

const told = ({ due, delivered, failed, cancelled }: ListedEvent["deliveries"]): string => {
  const all = due + delivered + failed + cancelled
  return all === 0 ? "–" : `${delivered}/${all}`
}

export const eventListScreen = (frame: Frame, data: EventListData): Screen => {
  const { event: words } = frame.words
  const { list, pairs } = data
  const time = timeText(data.timeZone)
  const path = consolePath(frame, "events")
  const line = (one: ListedEvent): Html => {
    const event = readEvent(one.event)
    return markup`<tr><th scope="row"><a href="${path}/${event.id}">#${event.id}</a></th>
<td class="soft nowrap"><time datetime="${event.receivedAt}">${time(event.receivedAt)}</time></td><td class="wide-only from">${event.source}</td>
<td class="mono clip"><span>${preview(event)}</span></td><td class="nowrap">${stateOf(frame, one, event.repeatOf)}</td><td class="n soft wide-only">${told(one.deliveries)}</td></tr>`
  }
  const narrowed = without(pairs, "cursor").some(([, value]) => value !== "")
  const none = markup`<div class="empty"><h2>${narrowed ? words.noMatch : words.none}</h2>${narrowed ? markup`<p><a href="${path}">${frame.words.table.clear}</a></p>` : markup`<p>${words.noneHint}</p>`}</div>`
  return {
    title: words.title,
    section: "events",
    main: markup`<div class="head"><h1>${words.list}</h1></div>${filters(frame, data)}
${
  list.items.length === 0
    ? none
    : markup`<div class="card flush"><table class="list events"><thead><tr><th scope="col">${words.number}</th><th scope="col">${words.received}</th><th scope="col" class="wide-only">${words.source}</th><th scope="col">${words.payload}</th><th scope="col">${words.state}</th><th scope="col" class="n wide-only">${words.delivered}</th></tr></thead>
<tbody>${list.items.map(line)}</tbody></table></div>`
}
<div class="foot flat"><span>${valueOf(pairs, "cursor") !== undefined && markup`<a href="${withQuery(path, without(pairs, "cursor"))}">↑ ${frame.words.table.firstPage}</a>`}</span><span>${
      list.nextCursor !== null &&
      markup`<a rel="next" href="${withQuery(path, [...without(pairs, "cursor"), ["cursor", list.nextCursor]])}">${frame.words.table.nextPage} →</a>`
    }</span></div>`,
  }
}
