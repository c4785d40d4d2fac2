/** Delivery attempts, newest first, each with its response. */
import { type Attempt, outcomeOf } from "@data-cabinet/core/delivery/Attempt"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { momentsIn, type ShowMoment } from "../html/Moment.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { OUTCOME_TONES, reasonIn } from "./DeliveryReason.ts"

const attemptLine = (frame: Frame, attempt: Attempt, moment: ShowMoment): Html => {
  const { integration: words } = frame.words
  const event =
    attempt.eventId === null
      ? words.ping
      : markup`<a href="${consolePath(frame, `events/${attempt.eventId}`)}">#${attempt.eventId}</a>`
  const reason = reasonIn(frame, attempt)
  const to = markup`<a href="${consolePath(frame, `deliveries/${attempt.deliveryId}`)}">${attempt.number}</a>`
  return markup`<tr><td class="nowrap">${moment(attempt.at)}</td><th scope="row">${event}</th><td class="n wide-only">${to}</td>
<td>${badge(OUTCOME_TONES[outcomeOf(attempt)], String(attempt.status ?? words.noResponse))}${reason !== null && markup` ${reason}`}${attempt.peer !== null && markup`<small>${attempt.peer}</small>`}${attempt.responseBody !== null && attempt.responseBody !== "" && markup`<details><summary>${words.response}</summary><pre class="text" tabindex="0">\n${attempt.responseBody}</pre></details>`}</td>
<td class="n wide-only nowrap">${words.millis(attempt.durationMs)}</td></tr>`
}

export const attemptTable = (frame: Frame, attempts: ReadonlyArray<Attempt>, timeZone: string): Html => {
  const { integration: words, event } = frame.words
  const moment = momentsIn(timeZone)
  if (attempts.length === 0) return markup`<p class="soft">${words.noAttempts}</p>`
  return markup`<div class="card flush"><table class="list"><thead><tr><th scope="col">${words.at}</th><th scope="col">${event.title}</th><th scope="col" class="n wide-only">${event.number}</th><th scope="col">${words.response}</th><th scope="col" class="n wide-only">${words.duration}</th></tr></thead><tbody>${attempts.map((attempt) => attemptLine(frame, attempt, moment))}</tbody></table></div>`
}
