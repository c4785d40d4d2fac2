/** The sources, and one source: its intake address with snippets, its settings, and the way to switch it off. */
import type { SourceActivity } from "@data-cabinet/core/activity/ActivityStore"
import { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import type { Source } from "@data-cabinet/core/source/Source"
import { PROVIDER_NAMES, providerNamed } from "@data-cabinet/core/source/Providers"
import type { ListedEvent } from "@data-cabinet/core/event/EventListStore"
import type { KnownSender } from "@data-cabinet/core/diagnostics/KnownSender"
import type { SourceShape } from "@data-cabinet/core/payload/ShapeFields"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { eventTable } from "../event/EventListScreen.ts"
import { type Live, liveLink } from "../live/LiveLink.ts"
import { badge } from "../html/Badge.ts"
import { sparkline } from "../html/Chart.ts"
import { confirmation } from "../html/Confirmation.ts"
import { copyField } from "../html/Menu.ts"
import { momentsIn } from "../html/Moment.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { type IdPage, pageLinks } from "../screen/IdPages.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { tablePath } from "../table/TablePath.ts"
import { shownValues } from "../screen/ChangedValues.ts"
import { settingFields, settingValues } from "../screen/SettingFields.ts"
import { fieldsSection } from "./SourceFields.ts"
import { proofForm, proofPolicy } from "./ProofForm.ts"
import { snippets } from "./Snippets.ts"
import { challenge, verification } from "./VerificationForm.ts"
import { isolated } from "../words/IsolatedWords.ts"

const state = ({ words }: Frame, { archived }: Source): Html =>
  archived ? badge("quiet", words.source.off) : badge("good", words.source.on)

const tableLink = (frame: Frame, { table }: Source): HtmlValue =>
  table !== null && markup`<a href="${tablePath(frame, table.schema, table.name)}">${table.schema}.${table.name}</a>`

/** `activity`: by the ids of the sources. */
export const sourceListScreen = (
  frame: Frame,
  page: IdPage<Source>,
  activity: ReadonlyMap<number, SourceActivity>,
  timeZone: string,
): Screen => {
  const { items: sources } = page
  const { source: words, overview } = frame.words
  const moment = momentsIn(timeZone)
  const received = ({ lastAt, lastEventId, days }: SourceActivity) =>
    markup`<td class="wide-only">${lastEventId === null ? "–" : markup`<a href="${consolePath(frame, `events/${lastEventId}`)}">${moment(lastAt)}</a>`}</td><td class="wide-only">${sparkline(days, days.map(overview.number).join(" · "))}</td>`
  const none = markup`<td class="wide-only" colspan="2"></td>`
  const line = (source: Source) =>
    markup`<tr><th scope="row"><a href="${consolePath(frame, `sources/${source.id}`)}">${source.name}</a></th><td>${state(frame, source)}</td>${activity.has(source.id) ? received(activity.get(source.id)!) : none}<td class="wide-only mono">${tableLink(frame, source)}</td></tr>`
  const list =
    sources.length === 0
      ? markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p></div>`
      : markup`<div class="card flush"><table class="list"><thead><tr><th scope="col">${words.name}</th><th scope="col">${frame.words.event.state}</th><th scope="col" class="wide-only">${overview.lastEvent}</th><th scope="col" class="wide-only">${overview.days7}</th><th scope="col" class="wide-only">${frame.words.tables.name}</th></tr></thead><tbody>${sources.map(line)}</tbody></table></div>`
  const add =
    may(frame, "source.change") &&
    postForm({
      path: consolePath(frame, "sources"),
      kind: "card row wrap",
      body: markup`<label class="grow">${words.newName}<input name="name" required maxlength="200" autocomplete="off"></label><label>${words.sender}<select name="from"><option value="">${words.anySender}</option>${PROVIDER_NAMES.map((name) => markup`<option value="${name}">${providerNamed(name).title}</option>`)}</select></label><button class="main">${words.add}</button>`,
    })
  return {
    title: frame.words.sections.sources,
    section: "sources",
    main: markup`<div class="head"><h1>${frame.words.sections.sources}</h1></div>${add}${list}${pageLinks(frame, page, "sources")}`,
  }
}

const intake = (frame: Frame, source: Source, url: string | null): Html => {
  const { source: words } = frame.words
  const path = consolePath(frame, `sources/${source.id}`)
  const again =
    may(frame, "source.reveal") &&
    confirmation(frame, {
      id: "rotate",
      face: words.rotate,
      kind: "",
      says: frame.words.ask.intake(source.name),
      path: `${path}/rotate`,
      acts: markup`<button name="keep_old" value="24h">${words.rotateKeeping}</button><button class="danger">${words.rotateNow}</button>`,
    })
  if (url === null) {
    return markup`<p class="mono">${frame.baseUrl}/webhook/••••••••</p>
${may(frame, "source.reveal") ? markup`<div class="row wrap">${actButton(`${path}/reveal`, words.show, "main")}</div>` : markup`<p class="soft">${words.mayNotSee}</p>`}`
  }
  const copy = frame.words.table.copy
  const policy = proofPolicy(url, source.proof)
  const unsigned =
    source.verify !== null &&
    markup`<div class="box warn" role="note"><p>${words.unsigned[source.verify.mode]} <a href="#verify">${frame.words.verification.title}</a></p></div>`
  return markup`${copyField("intake", words.intake, url, copy)}${unsigned}
${snippets(url, source).map(({ name, text }, at) => markup`<details${at === 0 && new Html(" open")}><summary>${name}</summary><div class="row top-row"><pre class="text grow" tabindex="0" id="snippet-${at}">${text}</pre><button type="button" data-copy="snippet-${at}">${copy}</button></div></details>`)}${policy !== null && markup`<p class="soft">${frame.words.proof.policy}</p><pre class="text">${policy}</pre>`}
<div class="row wrap">${again}</div>`
}

const senderNote = (frame: Frame, { provider, dropsFields, isUnverified }: KnownSender): Html => {
  const { source: words } = frame.words
  const { title, headerFields } = providerNamed(provider)
  const unverified = may(frame, "source.change") ? markup`<a href="#verify">${words.unverified}</a>` : words.unverified
  return markup`<div class="box warn" role="note"><p>${words.latestFrom(title)}${isUnverified && markup` ${unverified}`}${dropsFields && markup` ${words.dropsFields} <span class="mono">${headerFields.join(", ")}</span>`}</p></div>`
}

/** What the person in charge of a sender should know. */
const notes = (
  frame: Frame,
  { oldSecretUntil, limited }: Source,
  { timeZone, sender }: Pick<AroundSource, "timeZone" | "sender">,
): HtmlValue => {
  const { source: words } = frame.words
  const moment = momentsIn(timeZone)
  return markup`${oldSecretUntil !== null && markup`<p>${words.oldUntil} ${moment(oldSecretUntil)}</p>`}${limited !== null && markup`<div class="box warn"><p>${words.limited(limited.count)} ${moment(limited.since)} – ${moment(limited.lastAt)}</p></div>`}${sender !== null && senderNote(frame, sender)}`
}

const settings = (frame: Frame, source: Source): HtmlValue => {
  const { source: words } = frame.words
  if (!may(frame, "source.change")) return null
  const body = markup`<label>${words.name}<input name="name" required maxlength="200" value="${source.name}"></label>
${settingFields(SOURCE_SETTINGS, source, words.setting)}${shownValues({ name: source.name, ...settingValues(SOURCE_SETTINGS, source) })}
<button class="main">${frame.words.save}</button>`
  const path = consolePath(frame, `sources/${source.id}/change`)
  return markup`<section class="card" aria-labelledby="settings"><h2 id="settings">${words.settings}</h2>
${postForm({ path, kind: "form", body })}</section>`
}

const danger = (frame: Frame, source: Source): HtmlValue => {
  const { source: words } = frame.words
  const path = consolePath(frame, `sources/${source.id}`)
  const remove =
    may(frame, "source.delete") &&
    postForm({
      path: `${path}/delete`,
      kind: "form",
      body: markup`<p>${words.deleteHint}</p>
<label class="choice"><input type="radio" name="table" value="keep" required> ${words.keepTable}</label><label class="choice"><input type="radio" name="table" value="drop"> ${words.dropTable}</label>
<label>${words.typeName(source.name)}<input name="confirm" required autocomplete="off"></label><button class="danger">${words.delete}</button>`,
    })
  if (!may(frame, "source.change")) return null
  return markup`<section class="card" aria-labelledby="off"><h2 id="off">${words.switchOff}</h2><p>${words.offHint}</p>
<div class="row wrap">${source.archived ? actButton(`${path}/restore`, words.turnOn) : actButton(`${path}/archive`, words.turnOff)}</div>
${remove !== false && markup`<details><summary>${words.delete}</summary>${remove}</details>`}</section>`
}

/** The latest events of a source; its first event appears here by itself. */
export interface RecentEvents {
  readonly events: ReadonlyArray<ListedEvent>
  readonly timeZone: string
  readonly live: Live | null
  /** It is the source of notices, whose intake address accepts nothing. */
  readonly isOwn: boolean
}

/** What the screen of a source shows beside its settings. */
export interface AroundSource extends RecentEvents {
  readonly sender: KnownSender | null
  readonly shape: SourceShape
}

export const recentEvents = (frame: Frame, { events, timeZone }: Pick<RecentEvents, "events" | "timeZone">): Html =>
  events.length > 0
    ? eventTable(frame, events, timeZone)
    : markup`<p class="card soft" data-waiting>${frame.words.source.waiting}</p>`

const recent = (frame: Frame, { id }: Source, data: RecentEvents): Html => {
  const path = consolePath(frame, `sources/${id}`)
  const { live } = data
  const first = { into: "recent-events", from: `${path}/recent` }
  return markup`<section aria-labelledby="recent"><div class="head"><h2 id="recent">${frame.words.overview.latest}</h2>${live !== null && liveLink(frame, { live, href: path, counts: "events", first })}</div><div id="recent-events">${recentEvents(frame, data)}</div></section>`
}

/** `url`: the intake address, only in the response that reveals it. */
export const sourceScreen = (frame: Frame, source: Source, data: AroundSource, url: string | null = null): Screen => {
  const { source: words } = frame.words
  return {
    title: source.name,
    section: "sources",
    main: markup`<p><a href="${consolePath(frame, "sources")}">← ${frame.words.sections.sources}</a></p>
<div class="head"><h1>${isolated(source.name)} ${state(frame, source)}</h1><span class="row wrap">${source.table !== null && markup`<a class="button" href="${tablePath(frame, source.table.schema, source.table.name)}">${frame.words.tables.name}</a>`}<a class="button" href="${consolePath(frame, `events?source_id=${source.id}`)}">${frame.words.sections.events}</a></span></div>
<section class="card" aria-labelledby="address"><h2 id="address">${words.intake}</h2>${data.isOwn ? markup`<p class="soft">${words.ownHint}</p>` : intake(frame, source, url)}${notes(frame, source, data)}</section>
${recent(frame, source, data)}${fieldsSection(frame, data)}${settings(frame, source)}${!data.isOwn && [verification(frame, source), challenge(frame, source), proofForm(frame, source)]}${danger(frame, source)}`,
  }
}
