/**
 * A cabinet's activity on one screen: failures, silent sources, pending work, each source with its last week, and the
 * latest events.
 */
import type { Overview, SourceState } from "@data-cabinet/core/activity/Activity"
import { MOST_WAITING } from "@data-cabinet/core/activity/ActivityStore"
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { QueueGauge } from "@data-cabinet/core/delivery/DeliveryQueue"
import type { ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { eventTable } from "../event/EventListScreen.ts"
import { badge } from "../html/Badge.ts"
import { sparkline } from "../html/Chart.ts"
import { ICONS } from "../html/Icons.ts"
import { momentsIn } from "../html/Moment.ts"
import { shortName } from "../html/LongText.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { shownUrl } from "../integration/IntegrationScreen.ts"
import { type Live, liveLink } from "../live/LiveLink.ts"
import { tablePath } from "../table/TablePath.ts"
import { activityCharts } from "./ActivityCharts.ts"

export interface OverviewData {
  readonly sources: ReadonlyArray<Source>
  /** How many addresses there are. */
  readonly addresses: number
  /** The first of those that fail, or were paused for it. */
  readonly failing: ReadonlyArray<Address>
  readonly gauge: QueueGauge
  readonly activity: Overview
  readonly events: ReadonlyArray<ListedEvent>
  readonly timeZone: string
  readonly live: Live | null
}

const failing = (frame: Frame, { failing: addresses, activity, timeZone }: OverviewData): HtmlValue => {
  const { integration: words, overview } = frame.words
  const moment = momentsIn(timeZone)
  return addresses.map((address) => {
    const behind = activity.waiting.find(({ addressId }) => addressId === address.id)
    const waiting =
      behind !== undefined &&
      behind.waiting > 0 &&
      markup`<p>${overview.waiting(behind.waiting, behind.waiting >= MOST_WAITING)}, ${overview.oldest} ${moment(behind.oldest)}</p>`
    return markup`<div class="box error">${ICONS.alert}<div class="grow"><p><b>${shortName(shownUrl(frame, address))}</b></p><p>${address.pausedBecause === null ? markup`${words.failingSince} ${moment(address.failingSince)}` : markup`${words.pausedSince} ${moment(address.pausedAt)}: ${words.pausedBecause[address.pausedBecause]}`}</p>${waiting}</div><a class="button" href="${consolePath(frame, `addresses/${address.id}`)}">${overview.why}</a></div>`
  })
}

/** Sources that usually receive and are silent for longer than usual. */
const quiet = (frame: Frame, { sources, activity, timeZone }: OverviewData): HtmlValue => {
  const { overview: words } = frame.words
  const moment = momentsIn(timeZone)
  return activity.sources.map(({ sourceId, quiet: isQuiet, silence }): HtmlValue => {
    const source = sources.find(({ id }) => id === sourceId)
    if (!isQuiet || silence === null || source === undefined) return null
    return markup`<div class="box warn">${ICONS.alert}<div class="grow"><p><b>${source.name}</b></p><p>${words.quietSince} ${moment(silence.since)} · ${words.usually(silence.usualSeconds ?? 0)}</p></div><a class="button" href="${consolePath(frame, `sources/${source.id}`)}">${words.see}</a></div>`
  })
}

/** How many events wait for failing addresses in order: they have no deliveries that the queue could count. */
const waitingInOrder = ({ failing: addresses, activity }: OverviewData): number =>
  addresses
    .filter(({ order }) => order === "feed")
    .map(({ id }) => activity.waiting.find(({ addressId }) => addressId === id)?.waiting ?? 0)
    .reduce((sum, count) => sum + count, 0)

const tiles = (frame: Frame, data: OverviewData): Html => {
  const { gauge, addresses, sources } = data
  const inOrder = waitingInOrder(data)
  const { overview: words } = frame.words
  const tile = (value: number, text: (value: number) => string, path: string, tone: string) =>
    markup`<li><a class="tile ${tone}" href="${consolePath(frame, path)}"><b>${words.number(value)}</b><span>${text(value)}</span></a></li>`
  const on = sources.filter(({ archived }) => !archived).length
  return markup`<ul class="tiles">${tile(on, words.sourcesOn, "sources", "")}${tile(addresses, words.addresses, "integrations", "")}${tile(gauge.due, words.due, "deliveries?state=due", gauge.stuck > 0 ? "bad" : "")}${tile(gauge.retrying, words.retrying, "deliveries?state=retrying", gauge.retrying > 0 ? "warn" : "")}${inOrder > 0 && tile(inOrder, words.inOrder, "deliveries", "warn")}${gauge.paused > 0 && tile(gauge.paused, words.paused, "integrations", "warn")}</ul>`
}

const NO_STATE: Omit<SourceState, "sourceId"> = {
  lastAt: null,
  lastEventId: null,
  days: [],
  silence: null,
  quiet: false,
}

const sourceList = (frame: Frame, { sources, activity, timeZone }: OverviewData): Html => {
  const { overview: words, source: ofSource, tables } = frame.words
  const moment = momentsIn(timeZone)
  const states = new Map(activity.sources.map((state) => [state.sourceId, state]))
  const line = (source: Source) => {
    const { lastAt, lastEventId, days, quiet: isQuiet } = states.get(source.id) ?? NO_STATE
    const last =
      lastEventId === null
        ? markup`<span class="soft">–</span>`
        : markup`<a href="${consolePath(frame, `events/${lastEventId}`)}">${moment(lastAt)}</a>`
    return markup`<tr><th scope="row"><a href="${consolePath(frame, `sources/${source.id}`)}">${source.name}</a>${source.archived && markup` ${badge("quiet", ofSource.off)}`}${isQuiet && markup` ${badge("warn", words.quiet)}`}</th>
<td>${last}</td><td class="n" data-label="${words.today}">${words.number(days.at(-1) ?? 0)}</td><td>${sparkline(days, days.map(words.number).join(" · "))}</td>
<td class="wide-only mono">${source.table !== null && markup`<a href="${tablePath(frame, source.table.schema, source.table.name)}">${source.table.schema}.${source.table.name}</a>`}</td></tr>`
  }
  return markup`<section aria-labelledby="sources"><h2 id="sources">${frame.words.sections.sources}</h2>
<div class="card flush"><table class="list week"><thead><tr><th scope="col">${ofSource.name}</th><th scope="col">${words.lastEvent}</th><th scope="col" class="n">${words.today}</th><th scope="col">${words.days7}</th><th scope="col" class="wide-only">${tables.name}</th></tr></thead><tbody>${sources.map(line)}</tbody></table></div></section>`
}

/** Shown before the first event: how to send one. */
const begin = (frame: Frame, { sources }: OverviewData): Html => {
  const { overview: words } = frame.words
  const [first] = sources
  const to = first === undefined ? "sources" : `sources/${first.id}`
  return markup`<section class="card begin" data-waiting aria-labelledby="begin"><h2 id="begin">${words.begin}</h2><ol><li>${words.begin1}</li><li>${words.begin2}</li><li>${words.begin3}</li></ol><p><a class="button main" href="${consolePath(frame, to)}">${first === undefined ? frame.words.source.add : words.toSource(first.name)}</a></p></section>`
}

export const overviewScreen = (frame: Frame, data: OverviewData): Screen => {
  const { overview: words, doctor } = frame.words
  const state =
    may(frame, "diagnostics.read") &&
    markup`<a class="button" href="${consolePath(frame, "doctor")}">${doctor.title}</a>`
  const noticesLink =
    may(frame, "notices.read") &&
    markup`<a class="button" href="${consolePath(frame, "notices")}">${frame.words.notices.title}</a>`
  return {
    title: words.title,
    section: "overview",
    main: markup`<div class="head"><h1>${words.title}</h1><span class="row wrap">${liveOf(frame, data)}${noticesLink}${state}</span></div><div id="overview">${overviewBody(frame, data)}</div>`,
  }
}

const liveOf = (frame: Frame, { live }: OverviewData): HtmlValue => {
  const href = consolePath(frame)
  return live !== null && liveLink(frame, { live, href, counts: "events", first: { into: "overview", from: href } })
}

const filled = (frame: Frame, data: OverviewData): Html => {
  const { overview: words } = frame.words
  const { activity, addresses, timeZone } = data
  const delivers = addresses + activity.deliveryHours.length > 0
  const behind =
    activity.countedUntil !== null &&
    markup`<p class="soft">${words.behind} ${momentsIn(timeZone)(activity.countedUntil)}.</p>`
  return markup`${activityCharts(frame, activity, timeZone, delivers)}${behind}${sourceList(frame, data)}<section aria-labelledby="latest"><div class="head"><h2 id="latest">${words.latest}</h2><a href="${consolePath(frame, "events")}">${words.all}</a></div>${eventTable(frame, data.events, timeZone)}</section>`
}

/** The part that changes as events come. */
export const overviewBody = (frame: Frame, data: OverviewData): Html => {
  const { event } = frame.words
  return markup`${failing(frame, data)}${quiet(frame, data)}${tiles(frame, data)}
${data.events.length === 0 ? begin(frame, data) : filled(frame, data)}
${data.events.length === 0 && data.sources.length > 0 && markup`<p class="soft">${event.noneHint}</p>`}`
}
