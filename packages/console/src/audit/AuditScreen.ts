/** The audit log, newest first: who did what to what, and how it ended. Each name links to more about it. */
import type { AuditEntry } from "@data-cabinet/core/audit/AuditLog"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { momentsIn, type ShowMoment } from "../html/Moment.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { jsonTree } from "../html/JsonTree.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, without, withQuery } from "../screen/SelectionLinks.ts"
import { peopleTabs } from "../html/Tabs.ts"

export interface AuditData {
  readonly entries: ReadonlyArray<AuditEntry>
  /** The next page begins below this number; null on the last one. */
  readonly next: number | null
  readonly pairs: Pairs
  readonly timeZone: string
}

export const AUDIT_FILTERS = ["who", "action", "object"] as const

const path = (frame: Frame, pairs: Pairs) => withQuery(consolePath(frame, "audit"), pairs)

/** Narrows the list to entries that also have this. */
const narrowing = (frame: Frame, pairs: Pairs, name: string, value: string, text: HtmlValue): Html =>
  markup`<a href="${path(frame, [...without(pairs, "before", name), [name, value]])}">${text}</a>`

const SCREENS: Readonly<Record<string, string>> = { source: "sources", address: "addresses", person: "people" }

/** The screen of the act's object, if it has one. */
const objectLink = (frame: Frame, object: string): HtmlValue => {
  const [, kind = "", id] = /^(\w+) (\d+)$/.exec(object) ?? []
  const screen = SCREENS[kind]
  return (
    screen !== undefined &&
    markup` <a class="open" href="${consolePath(frame, `${screen}/${id}`)}" aria-label="${frame.words.audit.open} ${object}">›</a>`
  )
}

const outcome = ({ words: { audit: words } }: Frame, { outcome: ended }: AuditEntry): Html => {
  if (ended === null) return badge("warn", words.open_)
  return ended === "done" ? badge("good", words.done) : badge("bad", ended)
}

const line = (frame: Frame, entry: AuditEntry, { pairs }: AuditData, moment: ShowMoment): Html => {
  const { audit: words, roles } = frame.words
  const { actor, action, object, changes } = entry
  const text = JSON.stringify(changes)
  return markup`<tr><td>${moment(entry.at)}</td><th scope="row">${narrowing(frame, pairs, "who", actor.name, actor.name)}<small>${words.kinds[actor.kind]}, ${roles[actor.role] ?? actor.role}${actor.from !== null && markup` · ${actor.from}`}</small></th>
<td class="mono">${narrowing(frame, pairs, "action", action, action)}</td><td>${object !== null && markup`${narrowing(frame, pairs, "object", object, object)}${objectLink(frame, object)}`}${text !== "{}" && markup`<details><summary>${words.changes}</summary>${jsonTree(text)}</details>`}</td><td class="n">${outcome(frame, entry)}</td></tr>`
}

const filters = (frame: Frame, { pairs }: AuditData): Html => {
  const { audit: words, table } = frame.words
  const field = (name: (typeof AUDIT_FILTERS)[number]) =>
    markup`<input type="search" name="${name}" value="${valueOf(pairs, name) ?? ""}" aria-label="${words[name]}" placeholder="${words[name]}"${name === "who" && new Html(' data-key="/"')}>`
  return markup`<form class="tools flat" method="get" action="${path(frame, [])}" role="search">${AUDIT_FILTERS.map(field)}<button>${table.apply}</button></form>`
}

export const auditScreen = (frame: Frame, data: AuditData): Screen => {
  const { audit: words, table, people } = frame.words
  const { entries, next, pairs } = data
  const moment = momentsIn(data.timeZone)
  const narrowed = AUDIT_FILTERS.some((name) => (valueOf(pairs, name) ?? "") !== "")
  const none = markup`<div class="empty"><h2>${narrowed ? words.noMatch : words.none}</h2>${narrowed && markup`<p><a href="${path(frame, [])}">${table.clear}</a></p>`}</div>`
  return {
    title: people.audit,
    section: "people",
    main: markup`<div class="head"><h1>${people.audit}</h1></div>${peopleTabs(frame, "audit")}${filters(frame, data)}
${
  entries.length === 0
    ? none
    : markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.at}</th><th scope="col">${words.who}</th><th scope="col">${words.action}</th><th scope="col">${words.object}</th><th scope="col" class="n">${words.outcome}</th></tr></thead><tbody>${entries.map((entry) => line(frame, entry, data, moment))}</tbody></table></div>`
}
<div class="foot flat"><span>${valueOf(pairs, "before") !== undefined && markup`<a href="${path(frame, without(pairs, "before"))}">↑ ${table.firstPage}</a>`}</span><span>${next !== null && markup`<a rel="next" href="${path(frame, [...without(pairs, "before"), ["before", String(next)]])}">${table.nextPage} →</a>`}</span></div>`,
  }
}
