/** Notices: whether they are on, where they go, and the latest ones. */
import { NOTICE_KINDS } from "@data-cabinet/core/notice/Notice"
import type { NoticeState } from "@data-cabinet/core/notice/Notices"
import type { SentNotice } from "@data-cabinet/core/notice/NoticeStore"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { momentsIn } from "../html/Moment.ts"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { tablePath } from "../table/TablePath.ts"

const switches = (frame: Frame, { on }: NoticeState): HtmlValue => {
  const { notices: words } = frame.words
  if (!may(frame, "notices.change")) return null
  return on
    ? actButton(consolePath(frame, "notices/off"), words.turnOff)
    : actButton(consolePath(frame, "notices/on"), words.turnOn, "main")
}

const place = (frame: Frame, { source }: NoticeState): HtmlValue => {
  const { notices: words, tables } = frame.words
  if (source === null) return null
  const { id, name, table } = source
  return markup`<p>${words.source} <a href="${consolePath(frame, `sources/${id}`)}">${name}</a>${table !== null && markup` · <a href="${tablePath(frame, table.schema, table.name)}">${tables.name}</a>`}</p>`
}

const carriers = (frame: Frame, { on, addresses }: NoticeState): HtmlValue => {
  const { notices: words } = frame.words
  if (!on) return null
  if (addresses.length === 0) {
    return markup`<div class="box warn"><p>${words.nobody}</p><a class="button" href="${consolePath(frame, "integrations")}">${frame.words.sections.integrations}</a></div>`
  }
  const links = addresses.map(
    (id, n) => markup`${n > 0 && ", "}<a href="${consolePath(frame, `addresses/${id}`)}">#${String(id)}</a>`,
  )
  return markup`<p>${words.sentTo} ${links}. <span class="soft">${words.notAboutThem}</span></p>`
}

const latest = (frame: Frame, all: ReadonlyArray<SentNotice>, timeZone: string): Html => {
  const { notices: words } = frame.words
  const moment = momentsIn(timeZone)
  const kindOf = (kind: string) => {
    const known = NOTICE_KINDS.find((one) => one === kind)
    return known === undefined ? kind : words.kinds[known]
  }
  if (all.length === 0) return markup`<p class="card soft">${words.none}</p>`
  const line = ({ eventId, at, kind, message }: SentNotice) =>
    markup`<tr><td class="nowrap"><a href="${consolePath(frame, `events/${eventId}`)}">${moment(at)}</a></td><th scope="row">${kindOf(kind)}</th><td lang="en">${message}</td></tr>`
  return markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.at}</th><th scope="col">${words.kind}</th><th scope="col">${words.message}</th></tr></thead><tbody>${all.map(line)}</tbody></table></div>`
}

export const noticeScreen = (frame: Frame, state: NoticeState, timeZone: string): Screen => {
  const { notices: words, overview } = frame.words
  const moment = momentsIn(timeZone)
  const since = state.on && state.since !== null && markup`<p class="soft">${words.since} ${moment(state.since)}</p>`
  return {
    title: words.title,
    section: "overview",
    main: markup`<p><a href="${consolePath(frame)}">← ${overview.title}</a></p><div class="head"><h1>${words.title} ${state.on ? badge("good", words.on) : badge("quiet", words.off)}</h1>${switches(frame, state)}</div>
<p class="soft">${words.about}</p>
<section class="card" aria-labelledby="where"><h2 id="where">${words.where}</h2>${state.source === null ? markup`<p>${words.never}</p>` : markup`${place(frame, state)}${since}`}${carriers(frame, state)}</section>
<section aria-labelledby="latest"><h2 id="latest">${words.latest}</h2>${latest(frame, state.latest, timeZone)}</section>`,
  }
}
