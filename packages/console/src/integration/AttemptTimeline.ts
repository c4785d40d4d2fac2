/** The attempts of a delivery in time, from the first; the next one is dotted. Delays double, and so does the scale. */
import { type Attempt, outcomeOf, PHASES, type Timing } from "@data-cabinet/core/delivery/Attempt"
import { isSkipped } from "@data-cabinet/core/delivery/FailureReason"
import { type HtmlValue, markup, type Html } from "@data-cabinet/http-node/html/Html"
import { momentsIn, timeText, type ShowMoment } from "../html/Moment.ts"
import { type Frame, consolePath } from "../html/Shell.ts"
import { OUTCOME_TONES, reasonIn, statusBadge } from "./DeliveryReason.ts"
import { SIZES } from "../assets/Style.ts"

/** The newest that are drawn. */
const MOST = 24
const WIDTH = 600
const HEIGHT = 24
const EDGE = 12
/** The first delay, which the scale gives one step. */
const FIRST_DELAY_MILLIS = 30_000

const placeIn = (first: number, last: number) => {
  const scale = (at: number) => Math.log2(1 + Math.max(0, at - first) / FIRST_DELAY_MILLIS)
  const whole = Math.max(scale(last), 1)
  return (at: number): number => Math.round(EDGE + (scale(at) / whole) * (WIDTH - 2 * EDGE))
}

/** `attempts`: newest first. `nextAt`: null if none follows. Nothing for fewer than two points. */
export const attemptTimeline = (
  frame: Frame,
  attempts: ReadonlyArray<Attempt>,
  nextAt: string | null,
  timeZone: string,
): HtmlValue => {
  const shown = attempts.slice(0, MOST).toReversed()
  const first = shown[0]
  if (first === undefined || shown.length + (nextAt === null ? 0 : 1) < 2) return null
  const { deliveries: words } = frame.words
  const time = timeText(timeZone)
  const moment = momentsIn(timeZone)
  const end = nextAt ?? shown.at(-1)!.at
  const place = placeIn(Date.parse(first.at), Date.parse(end))
  const without = (one: Attempt) => (isSkipped(one) ? frame.words.integration.skipped : words.outcomes.no_answer)
  const dots = shown.map((one): HtmlValue => {
    const about = `${time(one.at)} · ${words.attempt(one.number)} · ${one.status ?? without(one)}`
    return markup`<circle class="${OUTCOME_TONES[outcomeOf(one)]}" cx="${place(Date.parse(one.at))}" cy="${HEIGHT / 2}" r="5"><title>${about}</title></circle>`
  })
  return markup`<svg class="attempts" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words.timeline}"><path d="M${EDGE} ${HEIGHT / 2}H${WIDTH - EDGE}"/>${dots}${nextAt !== null && markup`<circle class="next" cx="${place(Date.parse(nextAt))}" cy="${HEIGHT / 2}" r="6"><title>${time(nextAt)} · ${words.next}</title></circle>`}</svg>
<p class="axis plain"><span>${moment(first.at)}</span><span>${moment(end)}${nextAt !== null && ` · ${words.next}`}</span></p>`
}

/** Where the time of an attempt went: a bar, and the same in words. */
export const timingBar = (frame: Frame, timing: Timing): HtmlValue => {
  const { integration, deliveries: words } = frame.words
  const phases = PHASES.flatMap((name) => {
    const millis = timing[name]
    return millis === null ? [] : [{ millis, text: `${words.phases[name]} ${integration.millis(millis)}` }]
  })
  const whole = phases.reduce((sum, { millis }) => sum + millis, 0)
  const part = ({ millis, text }: (typeof phases)[number]): HtmlValue =>
    millis > 0 && markup`<i class="h${Math.max(1, Math.round((millis / whole) * SIZES))}" title="${text}"></i>`
  return (
    phases.length > 0 &&
    markup`${whole > 0 && markup`<span class="segments" aria-hidden="true">${phases.map(part)}</span>`}${phases.map(({ text }) => text).join(" · ")}`
  )
}

const attemptLine = (frame: Frame, attempt: Attempt, moment: ShowMoment): Html => {
  const { integration: words } = frame.words
  const event =
    attempt.eventId === null
      ? words.ping
      : markup`<a class="nowrap" href="${consolePath(frame, `events/${attempt.eventId}`)}">#${attempt.eventId}</a>`
  const reason = reasonIn(frame, attempt)
  const to = markup`<a href="${consolePath(frame, `deliveries/${attempt.deliveryId}`)}">${attempt.number}</a>`
  return markup`<tr><td class="nowrap">${moment(attempt.at)}</td><th scope="row">${event}${attempt.events > 1 && markup`<small class="soft">${words.several(attempt.events)}</small>`}</th><td class="n wide-only">${to}</td>
<td><span class="why">${statusBadge(frame, attempt)}${reason !== null && markup` ${reason}`}</span>${attempt.peer !== null && markup`<small>${attempt.peer}</small>`}${attempt.responseBody !== null && attempt.responseBody !== "" && markup`<details><summary>${words.response}</summary><pre class="text" tabindex="0">\n${attempt.responseBody}</pre></details>`}</td>
<td class="n wide-only nowrap">${words.millis(attempt.durationMs)}</td></tr>`
}

export const attemptTable = (frame: Frame, attempts: ReadonlyArray<Attempt>, timeZone: string): Html => {
  const { integration: words, event } = frame.words
  const moment = momentsIn(timeZone)
  if (attempts.length === 0) return markup`<p class="soft">${words.noAttempts}</p>`
  return markup`<div class="card flush"><table class="list"><thead><tr><th scope="col">${words.at}</th><th scope="col">${event.title}</th><th scope="col" class="n wide-only">${event.number}</th><th scope="col">${words.response}</th><th scope="col" class="n wide-only">${words.duration}</th></tr></thead><tbody>${attempts.map((attempt) => attemptLine(frame, attempt, moment))}</tbody></table></div>`
}
