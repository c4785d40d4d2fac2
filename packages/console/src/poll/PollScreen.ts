/** The addresses that are polled: each with its schedule and its last runs, and the form that adds one. */
import { type Poll, type PollRun, type PollTrial, shownPollUrl } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS, type PollSettings } from "@data-cabinet/core/poll/PollSettings"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { doubtLines, doubtTable } from "../file/Doubts.ts"
import { failureText } from "../html/FailureText.ts"
import { badge, type Tone } from "../html/Badge.ts"
import { options } from "../html/Choice.ts"
import { menu } from "../html/Menu.ts"
import { momentsIn } from "../html/Moment.ts"
import { type IdPage, pageLinks } from "../screen/IdPages.ts"
import { shortName, shortText } from "../html/LongText.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { jsonTree } from "../html/JsonTree.ts"
import { durationText, settingFacts, settingFields } from "../screen/SettingFields.ts"
import { fileTabs } from "../html/Tabs.ts"

/** Its query string may be a secret from visitors who may not change it. */
const shownUrl = ({ actor }: Frame, poll: Poll): string => shownPollUrl(poll, actor?.role ?? null)

const state = ({ words: { poll: words } }: Frame, { paused, failures }: Poll): Html => {
  if (paused) return badge("quiet", words.paused)
  return failures > 0 ? badge("bad", words.failing(failures)) : badge("good", words.works)
}

const headerFields = ({ words: { poll: words } }: Frame): Html =>
  markup`<label>${words.header}<input name="header_name" placeholder="Authorization" autocomplete="off"></label><label>${words.headerValue}<input name="header_value" type="password" autocomplete="off"></label>`

const tryButton = ({ words: { poll: words } }: Frame, path: string): Html =>
  markup`<button formaction="${path}">${words.try}</button>`

/** The values of its headers are never shown: they are kept, or entered again. */
const changeForm = (frame: Frame, path: string, poll: Poll, isTried: boolean): HtmlValue => {
  const { poll: words, save } = frame.words
  if (!may(frame, "poll.change")) return null
  const names = poll.headerNames.join(", ")
  const kept =
    names !== "" &&
    markup`<fieldset><legend>${words.header}</legend><label class="choice"><input type="radio" name="headers" value="keep" checked> <span>${words.keepHeaders} <bdi class="mono">${names}</bdi></span></label><label class="choice"><input type="radio" name="headers" value="replace"> ${words.replaceHeaders}</label><p class="soft">${words.headersHint}</p></fieldset>`
  const body = markup`<label>${words.url}<input name="url" type="url" required value="${poll.url}" autocomplete="off"></label>
${settingFields(POLL_SETTINGS, poll, words.setting)}${kept}${headerFields(frame)}<p class="soft">${words.changeHint}</p><div class="row wrap"><button class="main">${save}</button>${tryButton(frame, `${path}/try`)}</div>`
  return markup`<details class="card"${isTried && new Html(" open")}><summary>${words.change}</summary>${postForm({ path: `${path}/change`, kind: "form", body })}</details>`
}

/** The fields of the form that adds one, apart from its headers. */
export interface TypedPoll extends PollSettings {
  readonly sourceId: number
  readonly url: string
}

const NOTHING_YET: TypedPoll = { sourceId: 0, url: "", ...POLL_SETTINGS.defaults }

/** `settings`: the earlier input, without header values. */
const addForm = (frame: Frame, sources: ReadonlyArray<Source>, settings = NOTHING_YET): Html => {
  const { poll: words, event } = frame.words
  const [every, ...others] = settingFields(POLL_SETTINGS, settings, words.setting)
  const chosen = options(
    sources.map(({ id, name }) => [String(id), name] as const),
    String(settings.sourceId),
  )
  return postForm({
    path: consolePath(frame, "polls"),
    kind: settings === NOTHING_YET ? "" : "form",
    body: markup`<label>${words.url}<input name="url" type="url" required placeholder="https://" value="${settings.url}" autocomplete="off"></label>
<label>${event.source}<select name="source_id">${chosen}</select></label>${every ?? null}
<details${settings !== NOTHING_YET && new Html(" open")}><summary>${words.more}</summary>${others}
${headerFields(frame)}</details><p class="soft">${words.tryHint}</p><div class="row wrap">${tryButton(frame, consolePath(frame, "polls/try"))}<button class="main">${words.add}</button></div>`,
  })
}

const addMenu = (frame: Frame, sources: ReadonlyArray<Source>): HtmlValue =>
  may(frame, "poll.change") &&
  sources.length > 0 &&
  menu({ id: "add-poll", face: frame.words.poll.add, kind: "main", body: addForm(frame, sources) })

/** The result of trying a new poll, and the form that adds it. */
export const newPollScreen = (
  frame: Frame,
  settings: TypedPoll,
  sources: ReadonlyArray<Source>,
  trial: PollTrial,
): Screen => {
  const { poll: words } = frame.words
  return {
    title: words.add,
    section: "files",
    main: markup`<p><a href="${consolePath(frame, "polls")}">← ${words.title}</a></p><div class="head"><h1>${words.add}</h1></div>
${trialBox(frame, trial)}<section class="card" aria-label="${words.settings}">${addForm(frame, sources, settings)}</section>`,
  }
}

export const pollListScreen = (
  frame: Frame,
  page: IdPage<Poll>,
  sources: ReadonlyArray<Source>,
  timeZone: string,
): Screen => {
  const { items: polls } = page
  const { poll: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const nameOf = (id: number) => sources.find((source) => source.id === id)?.name ?? String(id)
  const line = (poll: Poll) =>
    markup`<tr><th scope="row"><a href="${consolePath(frame, `polls/${poll.id}`)}">${shortName(shownUrl(frame, poll))}</a></th><td>${nameOf(poll.sourceId)}</td><td class="wide-only nowrap">${durationText(frame, poll.everySeconds)}</td><td class="wide-only">${moment(poll.dueAt)}</td><td class="n">${state(frame, poll)}</td></tr>`
  return {
    title: words.title,
    section: "files",
    main: markup`<div class="head"><h1>${words.title}</h1>${addMenu(frame, sources)}</div>${fileTabs(frame, "polls")}
${
  polls.length === 0
    ? markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p></div>`
    : markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.url}</th><th scope="col">${event.source}</th><th scope="col" class="wide-only">${words.setting.label.everySeconds}</th><th scope="col" class="wide-only">${words.next}</th><th scope="col" class="n">${event.state}</th></tr></thead><tbody>${polls.map(line)}</tbody></table></div>`
}${pageLinks(frame, page, "polls")}`,
  }
}

export interface PollData {
  readonly poll: Poll
  readonly runs: ReadonlyArray<PollRun>
  readonly source: Source | null
  readonly timeZone: string
  /** The trial of this request: its settings and their result. */
  readonly tried?: { readonly settings: Partial<Poll>; readonly trial: PollTrial }
}

const RUN_TONES: Readonly<Record<PollRun["outcome"], Tone>> = { read: "good", unchanged: "quiet", failed: "bad" }

const runTable = (frame: Frame, { runs, timeZone }: PollData): Html => {
  const { poll: words, integration } = frame.words
  const moment = momentsIn(timeZone)
  if (runs.length === 0) return markup`<p class="soft">${words.noRuns}</p>`
  const line = (run: PollRun) =>
    markup`<tr><th scope="row">${moment(run.at)}</th><td>${badge(RUN_TONES[run.outcome], words.outcomes[run.outcome])} ${run.status}${failureText(frame, run.failure)}${doubtLines(frame, run.doubts)}</td><td class="n">${words.fresh(run.fresh, run.items)}</td><td class="n wide-only nowrap">${integration.millis(run.durationMs)}</td></tr>`
  return markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${integration.at}</th><th scope="col">${words.outcome}</th><th scope="col" class="n">${words.items}</th><th scope="col" class="n wide-only">${integration.duration}</th></tr></thead><tbody>${runs.map(line)}</tbody></table></div>`
}

export const pollScreen = (frame: Frame, data: PollData): Screen => {
  const { poll: words, event } = frame.words
  const { poll, source, timeZone, tried } = data
  const moment = momentsIn(timeZone)
  const path = consolePath(frame, `polls/${poll.id}`)
  const acts =
    may(frame, "poll.change") &&
    markup`<div class="row wrap">${actButton(`${path}/run`, words.run, "main")}${actButton(`${path}/try`, words.try)}${poll.paused ? actButton(`${path}/resume`, words.resume) : actButton(`${path}/pause`, words.pause)}</div>`
  const remove =
    may(frame, "poll.change") &&
    markup`<details class="card"><summary>${words.remove}</summary><p>${words.removeHint}</p>${actButton(`${path}/remove`, words.remove, "danger")}</details>`
  return {
    title: shortText(shownUrl(frame, poll)),
    section: "files",
    main: markup`<p><a href="${consolePath(frame, "polls")}">← ${words.title}</a></p><div class="head"><h1>${shortName(shownUrl(frame, poll))} ${state(frame, poll)}</h1></div>
<section class="card" aria-label="${words.settings}"><dl class="facts"><dt>${event.source}</dt><dd>${source === null ? poll.sourceId : markup`<a href="${consolePath(frame, `sources/${source.id}`)}">${source.name}</a>`}</dd><dt>${words.next}</dt><dd>${moment(poll.dueAt)}</dd>
${settingFacts(frame, POLL_SETTINGS, poll, words.setting)}${poll.headerNames.length > 0 && markup`<dt>${words.header}</dt><dd class="mono">${poll.headerNames.join(", ")}</dd>`}</dl>${acts}</section>${tried !== undefined && trialBox(frame, tried.trial)}
<section aria-labelledby="runs"><h2 id="runs">${words.runs}</h2>${runTable(frame, data)}</section>${changeForm(frame, path, { ...poll, ...tried?.settings }, tried !== undefined)}${remove}`,
  }
}

const fact = (name: string, value: HtmlValue) => value !== null && markup`<dt>${name}</dt><dd>${value}</dd>`

const item = ({ words: { poll: words } }: Frame, { payload, whole, key, fresh }: PollTrial["preview"][number]): Html =>
  markup`<li>${badge(fresh ? "good" : "quiet", fresh ? words.isNew : words.isKnown)} ${key !== null && markup`<bdi class="mono">${key}</bdi>`}${whole ? jsonTree(payload) : markup`<pre class="text" tabindex="0">${payload}…</pre>`}</li>`

/** The items that a tried poll would accept. All of it comes from outside, so it is shown as text. */
const trialBox = (frame: Frame, trial: PollTrial): Html => {
  const { poll: words, integration, event } = frame.words
  const { label, none } = words.setting
  const { status, failure, preview, beginning, keyField, pointer } = trial
  const read = failure === null
  const said = read ? words.wouldTake(trial.fresh, trial.items) : words.outcomes.failed
  return markup`<section class="card" role="status" aria-labelledby="trial"><h2 id="trial">${words.tried} ${badge(read ? "good" : "bad", said)}</h2>
${!read && markup`<p>${failureText(frame, failure)}</p>`}${doubtTable(frame, trial.doubts)}<p class="soft">${words.nothingKept}${read && trial.fresh > 0 && trial.history && ` ${words.asHistory}`}</p>
<dl class="facts">${fact(words.status, status)}${fact(integration.duration, integration.millis(trial.durationMs))}${fact(event.size, event.bytes(trial.bytes))}${fact(words.peer, trial.peer)}
${fact("Content-Type", trial.contentType)}${fact("ETag", trial.etag)}${fact("Last-Modified", trial.lastModified)}${fact(label.format, trial.format)}${fact(event.charset, trial.encoding)}
${read && markup`<dt>${label.pointer}</dt><dd class="mono">${pointer === "" ? "–" : pointer}</dd><dt>${label.keyField}</dt><dd>${keyField ?? none.keyField ?? ""}</dd>`}</dl>
${preview.length > 0 && markup`<details open><summary>${words.firstItems}</summary><ol>${preview.map((one) => item(frame, one))}</ol></details>`}${beginning !== null && markup`<details open><summary>${words.beginning}</summary><pre class="text" tabindex="0">${beginning}</pre></details>`}</section>`
}
