/** The findings of `cabinet doctor` as a screen, most urgent first, the followers of the feed, and old events in files. */
import type { ColdReport } from "@data-cabinet/core/diagnostics/ColdFindings"
import { type FollowerState, MOST_BEHIND } from "@data-cabinet/core/follower/FollowerStore"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { unturned } from "../words/IsolatedWords.ts"
import { badge, type Tone } from "../html/Badge.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { Finding } from "@data-cabinet/core/diagnostics/Doctor"

const TONES = { bad: "bad", warn: "warn", ok: "good" } as const satisfies Record<Finding["level"], Tone>

const ORDER: ReadonlyArray<Finding["level"]> = ["bad", "warn", "ok"]

/** In the visitor's language, with the message itself, which names the details. */
const said = ({ words: { doctor } }: Frame, { check, level, message }: Finding): Html => {
  const finding = doctor.finding(check, level)
  return finding === null
    ? markup`<th scope="row" class="mono nowrap">${check}</th><td lang="en">${unturned(message)}</td>`
    : markup`<th scope="row" class="nowrap">${finding.name}</th><td>${finding.sentence}<small lang="en">${unturned(message)}</small></td>`
}

/** What the screen shows. */
interface DoctorData {
  readonly findings: ReadonlyArray<Finding>
  readonly followers: ReadonlyArray<FollowerState>
  readonly cold: ColdReport | null
  readonly timeZone: string
}

const stateBadge = ({ words }: Frame, { failures, behind, paused }: FollowerState): Html =>
  paused
    ? badge("quiet", words.doctor.paused)
    : failures > 0
      ? badge("bad", words.doctor.failed(failures))
      : behind > 0
        ? badge("quiet", words.doctor.late)
        : badge("good", words.doctor.upToDate)

/** An address in order is a follower as well, so there may be thousands. */
const MAX_FOLLOWERS = 100

/** How far each follower has come, and its last error: failing ones first, then those that are further behind. */
const followerTable = (frame: Frame, { followers, timeZone }: DoctorData): Html => {
  const { doctor: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const line = (follower: FollowerState) => {
    const { kind, name, key, eventId, movedAt, behind, behindSeconds, error } = follower
    const count = `${behind}${behind === MOST_BEHIND ? "+" : ""}`
    const last = eventId === null ? "–" : markup`<a href="${consolePath(frame, `events/${eventId}`)}">#${eventId}</a>`
    return markup`<tr><th scope="row"><bdi>${name}</bdi> <span class="soft">${words.kinds[kind] ?? kind}</span></th><td><bdi>${key ?? "–"}</bdi></td><td class="n">${last}</td><td>${moment(movedAt)}</td><td class="n">${count}</td><td class="n">${Math.round(behindSeconds)}</td><td>${stateBadge(frame, follower)}${error === null ? "" : markup` <span lang="en">${error}</span>`}</td></tr>`
  }
  const shown = followers
    .toSorted((one, other) => other.failures - one.failures || other.behind - one.behind)
    .slice(0, MAX_FOLLOWERS)
  const heads = [words.follower, words.key, words.position, words.moved, words.behind, words.behindSeconds, event.state]
  return markup`<h2>${words.followers}</h2>
<div class="card flush"><table class="list stacked"><thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead><tbody>${shown.map(line)}</tbody></table></div>`
}

/** How much is in files, and when a round ended last; nothing without files. */
const coldLine = ({ words: { doctor, index } }: Frame, { cold, timeZone }: DoctorData): Html | null => {
  if (cold === null) return null
  const { events, files, bytes, workedAt, location } = cold
  const place = location === null ? "" : markup` <bdi class="mono">${location}</bdi>.`
  const round = workedAt === null ? "" : markup` ${doctor.lastRound}: ${momentsIn(timeZone)(workedAt)}.`
  return markup`<h2>${doctor.cold}</h2>
<p>${doctor.inFiles(events, files)}, ${index.megabytes(bytes)}.${place}${round}</p>`
}

export const doctorScreen = (frame: Frame, data: DoctorData): Screen => {
  const { findings } = data
  const { doctor: words, overview, table } = frame.words
  const sorted = findings.toSorted((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))
  const line = ({ check, level, message }: Finding) =>
    markup`<tr><td>${badge(TONES[level], words.levels[level])}</td>${said(frame, { check, level, message })}</tr>`
  const report = sorted.map(({ check, level, message }) => `${level.padEnd(4)} ${check}: ${message}`).join("\n")
  const troubles = findings.filter(({ level }) => level !== "ok").length
  return {
    title: words.title,
    section: "overview",
    main: markup`<p><a href="${consolePath(frame)}">← ${overview.title}</a></p><div class="head"><h1>${words.title}</h1><button type="button" data-copy="report">${table.copy}</button></div>
<p class="soft">${troubles === 0 ? words.well : words.troubles(troubles)}</p>
<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${frame.words.event.state}</th><th scope="col">${words.check}</th><th scope="col">${words.message}</th></tr></thead><tbody>${sorted.map(line)}</tbody></table></div>
${followerTable(frame, data)}
${coldLine(frame, data) ?? ""}
<textarea id="report" class="hide" readonly tabindex="-1" aria-label="${words.title}">${report}</textarea>`,
  }
}
