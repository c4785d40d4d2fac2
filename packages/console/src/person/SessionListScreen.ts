/** Who is signed in, since when, from where, and how to end it. */
import type { Session } from "@data-cabinet/core/person/Person"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { confirmed } from "../html/Confirmation.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { peopleTabs } from "../html/Tabs.ts"

export interface SessionListData {
  readonly sessions: ReadonlyArray<Session>
  /** The id of the visitor's own session; null for a program. */
  readonly current: number | null
  readonly timeZone: string
}

const BROWSERS = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["YaBrowser", "Yandex"],
  ["Firefox", "Firefox"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
  ["curl", "curl"],
] as const

const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"] as const

/** A browser and its system in two words if known; otherwise the first words of its user agent. */
export const browserName = (userAgent: string): string => {
  const browser = BROWSERS.find(([sign]) => userAgent.includes(sign))?.[1]
  const system = SYSTEMS.find((name) => userAgent.includes(name))
  return [browser, system].filter((part) => part !== undefined).join(", ") || userAgent.slice(0, 60)
}

const agent = (userAgent: string | null): HtmlValue =>
  userAgent !== null && markup`<span title="${userAgent.slice(0, 500)}">${browserName(userAgent)}</span>`

const endSession = (frame: Frame, { id, personName, userAgent }: Session): Html =>
  confirmed(frame, {
    id: `end-session-${id}`,
    face: frame.words.people.end,
    says: frame.words.ask.session(personName, userAgent === null ? "" : browserName(userAgent)),
    path: consolePath(frame, `sessions/${id}/end`),
    act: frame.words.ask.sessionNow,
  })

/** `named`: with whose each is. */
export const sessionTable = (frame: Frame, { sessions, current, timeZone }: SessionListData, named: boolean): Html => {
  const { people: words } = frame.words
  const moment = momentsIn(timeZone)
  if (sessions.length === 0) return markup`<p class="soft">${words.noSessions}</p>`
  const line = (session: Session) => {
    const who = may(frame, "person.read")
      ? markup`<a href="${consolePath(frame, `people/${session.personId}`)}">${session.personName}</a>`
      : session.personName
    const head = named ? who : moment(session.lastSeenAt)
    return markup`<tr><th scope="row">${head}${session.id === current && markup` ${badge("good", words.thisOne)}`}</th>${named && markup`<td>${moment(session.lastSeenAt)}</td>`}
<td class="wide-only">${moment(session.createdAt)}<small>${words.methods[session.method]}</small></td><td class="wide-only">${agent(session.userAgent)}<small>${session.client}</small></td>
<td class="n">${may(frame, "session.end") && endSession(frame, session)}</td></tr>`
  }
  return markup`<div class="card flush"><table class="list stacked"><thead><tr>${named && markup`<th scope="col">${words.name}</th>`}<th scope="col">${words.lastSeen}</th><th scope="col" class="wide-only">${words.begun}</th><th scope="col" class="wide-only">${words.browser}</th><th scope="col"><span class="hide">${words.end}</span></th></tr></thead><tbody>${sessions.map(line)}</tbody></table></div>`
}

/** `links`: to the other pages. */
export const sessionListScreen = (frame: Frame, data: SessionListData, links: HtmlValue): Screen => {
  const { people: words } = frame.words
  const all = may(frame, "person.read")
  return {
    title: words.sessions,
    section: all ? "people" : null,
    main: markup`<div class="head"><h1>${all ? words.sessions : words.mySessions}</h1></div>${all && peopleTabs(frame, "sessions")}${sessionTable(frame, data, all)}${links}
<p><a href="${consolePath(frame, "sign-out")}">${frame.words.session.signOutEverywhere}</a></p>`,
  }
}
