/** What a cabinet is doing, on one screen: what fails, what waits, each source with its last event, and what came last. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { QueueGauge } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { readEvent } from "../event/EventJson.ts"
import { eventTable } from "../event/EventListScreen.ts"
import { badge } from "../html/Badge.ts"
import { ICONS } from "../html/Icons.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { shownUrl } from "../integration/IntegrationScreen.ts"
import { type Live, liveLink } from "../live/LiveLink.ts"
import { tablePath } from "../table/TablePath.ts"

export interface SourceActivity {
  readonly source: Source
  /** Null without one, and where more sources are than are looked at. */
  readonly last: ListedEvent | null
}

export interface OverviewData {
  readonly sources: ReadonlyArray<SourceActivity>
  readonly addresses: ReadonlyArray<Address>
  readonly gauge: QueueGauge
  readonly events: ReadonlyArray<ListedEvent>
  readonly timeZone: string
  readonly live: Live | null
}

const failing = (frame: Frame, { addresses, timeZone }: OverviewData): HtmlValue => {
  const { integration: words, overview } = frame.words
  const moment = momentsIn(timeZone)
  return addresses
    .filter(({ failingSince, pausedAt }) => failingSince !== null && pausedAt === null)
    .map(
      (address) =>
        markup`<div class="box error">${ICONS.alert}<div class="grow"><p><b>${shownUrl(frame, address)}</b></p><p>${words.failingSince} ${moment(address.failingSince)}</p></div><a class="button" href="${consolePath(frame, `addresses/${address.id}`)}">${overview.why}</a></div>`,
    )
}

const tiles = (frame: Frame, { gauge, addresses, sources }: OverviewData): Html => {
  const { overview: words } = frame.words
  const tile = (value: number, text: string, path: string, tone: string) =>
    markup`<li><a class="tile ${tone}" href="${consolePath(frame, path)}"><b>${words.number(value)}</b><span>${text}</span></a></li>`
  const on = sources.filter(({ source }) => !source.archived).length
  return markup`<ul class="tiles">${tile(on, words.sourcesOn, "sources", "")}${tile(addresses.length, words.addresses, "integrations", "")}${tile(gauge.due, words.due, "integrations", gauge.stuck > 0 ? "bad" : "")}${tile(gauge.retrying, words.retrying, "integrations", gauge.retrying > 0 ? "warn" : "")}${gauge.paused > 0 && tile(gauge.paused, words.paused, "integrations", "warn")}</ul>`
}

const sourceList = (frame: Frame, { sources, timeZone }: OverviewData): Html => {
  const { overview: words, source: ofSource, tables } = frame.words
  const moment = momentsIn(timeZone)
  const line = ({ source, last }: SourceActivity) => {
    const event = last === null ? null : readEvent(last.event)
    return markup`<tr><th scope="row"><a href="${consolePath(frame, `sources/${source.id}`)}">${source.name}</a>${source.archived && markup` ${badge("quiet", ofSource.off)}`}</th>
<td>${event === null ? markup`<span class="soft">–</span>` : markup`<a href="${consolePath(frame, `events/${event.id}`)}">${moment(event.receivedAt)}</a>`}</td>
<td class="wide-only mono">${source.table !== null && markup`<a href="${tablePath(frame, source.table.schema, source.table.name)}">${source.table.schema}.${source.table.name}</a>`}</td></tr>`
  }
  return markup`<section aria-labelledby="sources"><h2 id="sources">${frame.words.sections.sources}</h2>
<div class="card flush"><table class="list"><thead><tr><th scope="col">${ofSource.name}</th><th scope="col">${words.lastEvent}</th><th scope="col" class="wide-only">${tables.name}</th></tr></thead><tbody>${sources.map(line)}</tbody></table></div></section>`
}

/** Where nothing has come yet: the way to the first event. */
const begin = (frame: Frame, { sources }: OverviewData): Html => {
  const { overview: words } = frame.words
  const [first] = sources
  const to = first === undefined ? "sources" : `sources/${first.source.id}`
  return markup`<section class="card begin" data-waiting aria-labelledby="begin"><h2 id="begin">${words.begin}</h2><ol><li>${words.begin1}</li><li>${words.begin2}</li><li>${words.begin3}</li></ol><p><a class="button main" href="${consolePath(frame, to)}">${first === undefined ? frame.words.source.add : words.toSource(first.source.name)}</a></p></section>`
}

export const overviewScreen = (frame: Frame, data: OverviewData): Screen => {
  const { overview: words, doctor } = frame.words
  const state =
    may(frame, "diagnostics.read") &&
    markup`<a class="button" href="${consolePath(frame, "doctor")}">${doctor.title}</a>`
  return {
    title: words.title,
    section: "overview",
    main: markup`<div class="head"><h1>${words.title}</h1><span class="row wrap">${liveOf(frame, data)}${state}</span></div><div id="overview">${overviewBody(frame, data)}</div>`,
  }
}

const liveOf = (frame: Frame, { live }: OverviewData): HtmlValue => {
  const href = consolePath(frame)
  return live !== null && liveLink(frame, { live, href, counts: "events", first: { into: "overview", from: href } })
}

/** What changes as events come. */
export const overviewBody = (frame: Frame, data: OverviewData): Html => {
  const { overview: words, event } = frame.words
  return markup`${failing(frame, data)}${tiles(frame, data)}
${data.events.length === 0 ? begin(frame, data) : markup`${sourceList(frame, data)}<section aria-labelledby="latest"><div class="head"><h2 id="latest">${words.latest}</h2><a href="${consolePath(frame, "events")}">${words.all}</a></div>${eventTable(frame, data.events, data.timeZone)}</section>`}
${data.events.length === 0 && data.sources.length > 0 && markup`<p class="soft">${event.noneHint}</p>`}`
}
