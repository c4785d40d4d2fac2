/** The inbox of a form: four weeks as bars, and the people who wrote, newest first, each opening beside the list. */
import type { InboxPage } from "@data-cabinet/core/inbox/Inbox"
import type { InboxMessage } from "@data-cabinet/core/inbox/InboxMessage"
import type { InboxDay, InboxFigures } from "@data-cabinet/core/inbox/InboxStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { barChart } from "../html/Chart.ts"
import { options } from "../html/Choice.ts"
import { ICONS } from "../html/Icons.ts"
import { timeText } from "../html/Moment.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { tabs } from "../html/Tabs.ts"
import { type Live, liveLink } from "../live/LiveLink.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { listExportMenu } from "../screen/ListExport.ts"
import { valueOf, withQuery, without } from "../screen/SelectionLinks.ts"
import { inboxLists } from "../table/ListBehind.ts"
import { tablePath } from "../table/TablePath.ts"
import { unreadClass } from "./MessageDetail.ts"
import { isolated } from "../words/IsolatedWords.ts"

export interface InboxData {
  readonly source: Source
  readonly forms: ReadonlyArray<Source>
  readonly page: InboxPage
  readonly figures: InboxFigures
  readonly pairs: Pairs
  readonly live: Live | null
  readonly timeZone: string
}

/** The choices of the list; messages to be answered come first. */
export const SHOWN_MARKS = ["open", "unread", "done", "all"] as const

const WEEK = 7

const sum = (days: ReadonlyArray<InboxDay>, of: (day: InboxDay) => number): number =>
  days.reduce((all, day) => all + of(day), 0)

const spamOf = ({ honeypot, origin, proof }: InboxDay): number => honeypot + origin + proof

const figures = (frame: Frame, { source, figures: { days, since }, timeZone }: InboxData): Html => {
  const { inbox: words, overview } = frame.words
  const week = sum(days.slice(-WEEK), ({ messages }) => messages)
  const before = sum(days.slice(-2 * WEEK, -WEEK), ({ messages }) => messages)
  const bars = days.map((day) => ({
    values: [day.messages, spamOf(day)] as const,
    title: `${day.day} · ${words.messages(day.messages)}${spamOf(day) > 0 ? ` · ${words.spam(spamOf(day))}` : ""}`,
  }))
  const line = (day: InboxDay) =>
    markup`<tr><th scope="row" class="nowrap">${day.day}</th><td class="n">${overview.number(day.messages)}</td><td class="n">${overview.number(spamOf(day))}</td></tr>`
  const spams = sum(days, spamOf)
  const by = (of: "honeypot" | "origin" | "proof") => sum(days, (day) => day[of])
  const spam = withQuery(consolePath(frame, "events"), [
    ["source_id", String(source.id)],
    ["state", "spam"],
  ])
  return markup`<div class="arrived"><section class="card figure" aria-label="${words.lastDays}"><p><b>${overview.number(week)}</b> <span class="soft">${since === null ? words.thisWeek(week - before) : words.countedSince(timeText(timeZone)(since))}</span></p>${barChart(bars, words.lastDays)}<p class="axis"><span>${days[0]?.day ?? ""}</span><span>${words.today}</span></p><details><summary>${overview.asTable}</summary><table class="list"><thead><tr><th scope="col">${words.day}</th><th scope="col" class="n">${words.messagesHead}</th><th scope="col" class="n">${words.spamHead}</th></tr></thead><tbody>${days.toReversed().map(line)}</tbody></table></details></section>
<section class="card figure" aria-labelledby="spam"><h2 id="spam">${words.keptOut}</h2><p><b>${overview.number(spams)}</b> <span class="soft">${words.inFourWeeks}</span></p>${spams > 0 ? markup`<p class="soft">${words.reasons(by("honeypot"), by("origin"), by("proof"))}</p><p><a href="${spam}">${words.seeSpam}</a></p>` : source.honeypot === null && source.allowOrigins.length === 0 && source.proof === null && markup`<p class="soft">${words.noRules} <a href="${consolePath(frame, `sources/${source.id}`)}">${words.setRules}</a></p>`}</section></div>`
}

const filters = (frame: Frame, { source, pairs }: InboxData): Html => {
  const { inbox: words, table } = frame.words
  const chosen = valueOf(pairs, "mark") ?? "open"
  return markup`<form class="tools flat" method="get" action="${consolePath(frame, `inbox/${source.id}`)}" role="search"><label class="field">${ICONS.search}<input type="search" name="text" value="${valueOf(pairs, "text") ?? ""}" aria-label="${words.find}" placeholder="${words.find}" data-key="/"></label><select name="mark" aria-label="${words.show}">${options(
    SHOWN_MARKS.map((mark) => [mark, words.marks[mark]]),
    chosen,
  )}</select><button>${table.apply}</button></form>`
}

/** The first letters of a name, as its picture. */
const initials = (name: string): string =>
  (name.match(/(?<![\p{L}\p{M}])\p{L}/gu) ?? [])
    .slice(0, 2)
    .map((letter) => letter.toUpperCase())
    .join("")

const shortTime = (timeZone: string, today: string) => {
  const time = timeText(timeZone)
  return (at: string): string => {
    const text = time(at)
    return text.startsWith(today) ? text.slice(11, 16) : text.slice(0, 10)
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const line = (frame: Frame, data: InboxData, one: InboxMessage): Html => {
  const {
    source,
    figures: { days },
    pairs,
    timeZone,
  } = data
  const { inbox: words } = frame.words
  const list = withQuery(`inbox/${source.id}`, pairs)
  const href = consolePath(frame, inboxLists.within(`inbox/${source.id}/${one.eventId}`, list))
  const who = oneLine(one.name ?? one.email ?? "") || words.nobody
  const isUnread = !one.read && !one.done
  const time = shortTime(timeZone, days.at(-1)?.day ?? "")
  return markup`<tr id="event-${one.eventId}"${unreadClass(isUnread)}><td class="face" aria-hidden="true"><i>${initials(who)}</i></td><th scope="row"><a href="${href}"><span>${isolated(who)}</span>${isUnread && markup`<span class="hide"> (${words.isUnread})</span>`}</a>${one.subject !== null && markup`<b>${oneLine(one.subject)}</b>`}<small>${oneLine(one.message ?? "") || "–"}</small></th><td class="n soft nowrap"><time datetime="${one.receivedAt}">${time(one.receivedAt)}</time>${one.done && markup`<small>✓ ${words.isDone}</small>`}</td></tr>`
}

const nothing = (
  frame: Frame,
  { source, page: { searchedTo }, pairs, timeZone, figures: { days } }: InboxData,
): Html => {
  const { inbox: words, event } = frame.words
  if (searchedTo !== null) {
    return markup`<div class="empty"><h2>${words.noneSince(timeText(timeZone)(searchedTo))}</h2><p>${event.olderUnsearched}</p></div>`
  }
  const isNarrowed =
    (valueOf(pairs, "text") ?? "") !== "" || !["all", "open"].includes(valueOf(pairs, "mark") ?? "open")
  if (!isNarrowed && sum(days, ({ messages }) => messages) > 0) {
    return markup`<div class="empty"><h2>${words.allDone}</h2><p><a href="${withQuery(consolePath(frame, `inbox/${source.id}`), [["mark", "all"]])}">${words.seeAll}</a></p></div>`
  }
  return isNarrowed
    ? markup`<div class="empty"><h2>${words.noMatch}</h2><p><a href="${consolePath(frame, `inbox/${source.id}`)}">${frame.words.table.clear}</a></p></div>`
    : markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p><p><a href="${consolePath(frame, `sources/${source.id}`)}">${words.toSource}</a></p></div>`
}

const markRead = (frame: Frame, { source, page: { items }, pairs }: InboxData): HtmlValue => {
  const unread = items.filter(({ read, done }) => !read && !done)
  if (!may(frame, "inbox.mark") || unread.length === 0) return null
  return postForm({
    path: consolePath(frame, `inbox/${source.id}/read`),
    body: markup`${unread.map(({ eventId }) => markup`<input type="hidden" name="event" value="${eventId}">`)}<input type="hidden" name="list" value="${withQuery(`inbox/${source.id}`, pairs)}"><button>${frame.words.inbox.markListed(unread.length)}</button>`,
  })
}

const list = (frame: Frame, data: InboxData): Html => {
  const { source, page, pairs } = data
  const { table, inbox: words, event } = frame.words
  const here = consolePath(frame, `inbox/${source.id}`)
  const first = without(pairs, "cursor")
  if (page.items.length === 0 && page.nextCursor === null)
    return markup`<div>${filters(frame, data)}${nothing(frame, data)}</div>`
  const older = page.items.length === 0 ? event.searchOlder : table.nextPage
  return markup`<div class="mail"><div>${filters(frame, data)}${page.items.length === 0 ? nothing(frame, data) : markup`<div class="card flush"><table class="list people" data-walk><thead class="hide"><tr><td></td><th scope="col">${words.message}</th><th scope="col">${event.received}</th></tr></thead><tbody>${page.items.map((one) => line(frame, data, one))}</tbody></table></div>`}
<div class="foot flat"><span>${first.length < pairs.length && markup`<a href="${withQuery(here, first)}">↑ ${table.firstPage}</a>`}${markRead(frame, data)}</span><span>${page.nextCursor !== null && markup`<a rel="next" href="${withQuery(here, [...first, ["cursor", page.nextCursor]])}">${older} →</a>`}</span></div></div>
<aside id="panel" class="panel" hidden aria-label="${words.message}" tabindex="-1"></aside><p class="choose soft">${words.choose}</p></div>`
}

/** The script lets it grow with the messages that come while the screen is open. */
const unreadBadge = ({ words: { inbox: words } }: Frame, unread: number, more: boolean): Html => {
  const template = (number: number) => words.unreadCount(number, more).replace(/^\P{L}+/u, `#${more ? "+" : ""} `)
  return markup`<span class="badge good" data-waits="${unread}" data-one="${template(1)}" data-other="${template(5)}"${unread === 0 && new Html(" hidden")}>${words.unreadCount(unread, more)}</span>`
}

/** The messages of the list, all pages of them. */
const exportMenu = (frame: Frame, { source, pairs }: InboxData): Html =>
  listExportMenu(frame, `inbox/${source.id}`, without(pairs, "cursor"))

export const inboxScreen = (frame: Frame, data: InboxData): Screen => {
  const { source, forms, pairs, live } = data
  const { inbox: words, sections } = frame.words
  const unread = sum(data.figures.days, (day) => day.unread)
  const isExact = (valueOf(pairs, "text") ?? "") === "" && (valueOf(pairs, "mark") ?? "open") !== "done"
  const href = withQuery(consolePath(frame, `inbox/${source.id}`), without(pairs, "cursor"))
  const news = live !== null && liveLink(frame, { live, href, counts: isExact ? "rows" : "some" })
  const { table } = source
  const rows =
    table !== null && markup`<a class="button" href="${tablePath(frame, table.schema, table.name)}">${words.table}</a>`
  const others = forms.map(({ id, name }) => ({ path: `inbox/${id}`, text: name, action: "event.read" as const }))
  return {
    title: `${source.name} · ${sections.inbox}`,
    section: "inbox",
    walked: true,
    main: markup`<div class="head"><h1>${isolated(source.name)} ${unreadBadge(frame, unread, data.figures.since !== null)}</h1><span class="row wrap">${news}${rows}${exportMenu(frame, data)}</span></div>${forms.length > 1 && tabs(frame, sections.inbox, others, `inbox/${source.id}`)}${figures(frame, data)}${list(frame, data)}`,
  }
}

/** The section while no source is a form. */
export const noInboxScreen = (frame: Frame): Screen => {
  const { inbox: words, sections } = frame.words
  return {
    title: sections.inbox,
    section: "inbox",
    main: markup`<h1>${sections.inbox}</h1><div class="empty"><h2>${words.noForms}</h2><p>${words.noFormsHint}</p><p><a class="button" href="${consolePath(frame, "sources")}">${sections.sources}</a></p></div>`,
  }
}
