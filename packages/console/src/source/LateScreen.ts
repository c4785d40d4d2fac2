/**
 * The events of a source whose sender could not be verified on arrival: first a preview of a verification, then the
 * verification.
 */
import type { LateOutcome } from "@data-cabinet/core/verification/LateVerdict"
import type { UncheckedReason } from "@data-cabinet/core/verification/LateCheck"
import type { RefusalReason } from "@data-cabinet/core/verification/VerifySender"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"

/** The number of events with this outcome and reason. */
export interface LateCount {
  readonly outcome: LateOutcome
  readonly reason: RefusalReason | UncheckedReason | null
  readonly events: number
}

/** The progress of counting or verifying; `next` is null at the end. */
export interface LateProgress {
  readonly is: "counted" | "verified"
  readonly seen: number
  readonly deliveries: number
  readonly counts: ReadonlyArray<LateCount>
  readonly next: string | null
}

export interface LateData {
  readonly source: Source
  readonly deliver: boolean
  readonly progress: LateProgress | null
}

export const latePath = (frame: Pick<Frame, "base">, sourceId: number): string =>
  consolePath(frame, `sources/${sourceId}/late`)

const hidden = (name: string, value: string | number) => markup`<input type="hidden" name="${name}" value="${value}">`

/** The progress of the last form. */
const carried = ({ deliver, progress }: LateData): HtmlValue =>
  progress !== null &&
  markup`${deliver && hidden("deliver", "yes")}${hidden("seen", progress.seen)}${hidden("deliveries", progress.deliveries)}${progress.counts.map(
    ({ outcome, reason, events }) => hidden("found", `${outcome} ${reason ?? ""} ${events}`),
  )}${progress.next !== null && hidden("cursor", progress.next)}`

const TONES: Readonly<Record<LateOutcome, Tone>> = {
  verified: "good",
  was_verified: "quiet",
  refused: "bad",
  unchecked: "warn",
}

const found = (frame: Frame, { counts }: LateProgress): HtmlValue => {
  const { late: words, event } = frame.words
  if (counts.length === 0) return markup`<p class="soft">${words.nothing}</p>`
  const line = ({ outcome, reason, events }: LateCount) =>
    markup`<tr><th scope="row">${badge(TONES[outcome], words.outcomes[outcome])}${reason !== null && markup`<small>${event.unchecked[reason]}</small>`}</th><td class="n">${words.events(events)}</td></tr>`
  return markup`<table class="list"><tbody>${counts.map(line)}</tbody></table>`
}

/** Whether verifying would change or deliver anything. */
const hasWork = ({ deliver, progress }: LateData): boolean =>
  (progress?.counts ?? []).some(({ outcome }) => outcome === "verified" || (deliver && outcome === "was_verified"))

const progressBox = (frame: Frame, data: LateData): HtmlValue => {
  const { progress, deliver, source } = data
  if (progress === null) return null
  const { late: words } = frame.words
  const path = latePath(frame, source.id)
  const { is, seen, next, deliveries } = progress
  const form = (is_: "count" | "verify", text: string) =>
    postForm({ path, body: markup`${carried(data)}${hidden("act", is_)}<button class="main">${text}</button>` })
  const again: LateData = { ...data, progress: { is: "verified", seen: 0, deliveries: 0, counts: [], next: null } }
  const begin = () =>
    postForm({
      path,
      body: markup`${carried(again)}${hidden("act", "verify")}<button class="main">${deliver ? words.verifyAndDeliver : words.verify}</button>`,
    })
  const title = is === "counted" ? words.counted(seen) : words.verified(seen)
  const deliveredNote = is === "verified" && deliver && markup`<p>${words.delivered(deliveries)}</p>`
  const goOn = is === "counted" ? form("count", words.countOn) : form("verify", words.verifyOn)
  return markup`<div class="box ${is === "verified" && next === null ? "good" : ""}" role="status"><div class="grow"><p><b>${title}</b>${next !== null && markup` ${words.more}`}</p>${found(frame, progress)}${deliveredNote}${next !== null ? goOn : is === "counted" && hasWork(data) && begin()}</div></div>`
}

export const lateScreen = (frame: Frame, data: LateData): Screen => {
  const { late: words } = frame.words
  const { source, deliver } = data
  const body = markup`${hidden("act", "count")}<label class="choice"><input type="checkbox" name="deliver" value="yes"${deliver && new Html(" checked")}> ${words.deliver}</label><button>${words.count}</button>`
  return {
    title: `${words.title}: ${source.name}`,
    section: "sources",
    main: markup`<p><a href="${consolePath(frame, `sources/${source.id}`)}">← ${source.name}</a></p>
<div class="head"><h1>${words.title}</h1></div>
<section class="card" aria-label="${words.title}"><p class="soft">${words.hint}</p>
${postForm({ path: latePath(frame, source.id), kind: "form", body })}
${progressBox(frame, data)}</section>`,
  }
}
