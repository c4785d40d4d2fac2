/** The attempts of a delivery in time, from the first; the next one is dotted. Delays double, and so does the scale. */
import { type Attempt, outcomeOf } from "@data-cabinet/core/delivery/Attempt"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { momentsIn, timeText } from "../html/Moment.ts"
import type { Frame } from "../html/Shell.ts"
import { OUTCOME_TONES } from "./DeliveryReason.ts"

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
  const dots = shown.map((one): HtmlValue => {
    const about = `${time(one.at)} · ${words.attempt(one.number)} · ${one.status ?? words.outcomes.no_answer}`
    return markup`<circle class="${OUTCOME_TONES[outcomeOf(one)]}" cx="${place(Date.parse(one.at))}" cy="${HEIGHT / 2}" r="5"><title>${about}</title></circle>`
  })
  return markup`<svg class="attempts" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${words.timeline}"><path d="M${EDGE} ${HEIGHT / 2}H${WIDTH - EDGE}"/>${dots}${nextAt !== null && markup`<circle class="next" cx="${place(Date.parse(nextAt))}" cy="${HEIGHT / 2}" r="6"><title>${time(nextAt)} · ${words.next}</title></circle>`}</svg>
<p class="axis plain"><span>${moment(first.at)}</span><span>${moment(end)}${nextAt !== null && ` · ${words.next}`}</span></p>`
}
