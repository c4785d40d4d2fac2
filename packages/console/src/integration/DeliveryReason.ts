/** Why a delivery failed, and what follows, in the language of the page. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import { type Delivery, type DeliveryOutcome, type LastAttempt, outcomeOf } from "@data-cabinet/core/delivery/Attempt"
import {
  type FailedAttempt,
  failureReason,
  isSkipped,
  REASON_WORDS,
  type ReasonWords,
  reasonText,
} from "@data-cabinet/core/delivery/FailureReason"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Language } from "@data-cabinet/http-node/html/Language"
import { badge, type Tone } from "../html/Badge.ts"
import type { ShowMoment } from "../html/Moment.ts"
import type { Frame } from "../html/Shell.ts"
import { isolatedWords } from "../words/IsolatedWords.ts"
import { RUSSIAN_REASONS } from "../words/RussianReasons.ts"

const REASONS: Readonly<Record<Language, ReasonWords>> = {
  en: isolatedWords(REASON_WORDS),
  ru: isolatedWords(RUSSIAN_REASONS),
}

/** The colours of outcomes in lists and pictures. */
export const OUTCOME_TONES: Readonly<Record<DeliveryOutcome, Tone>> = {
  delivered: "good",
  refused: "warn",
  error: "bad",
  no_answer: "bad",
}

/** Null for an attempt that was delivered. */
export const reasonIn = ({ language }: Pick<Frame, "language">, attempt: FailedAttempt): string | null => {
  const reason = failureReason(attempt)
  return reason === null ? null : reasonText(reason, REASONS[language])
}

/** The status of an attempt, in the colour of its outcome. */
export const statusBadge = ({ words: { integration: words } }: Frame, attempt: FailedAttempt): Html =>
  isSkipped(attempt)
    ? badge("quiet", words.skipped)
    : badge(OUTCOME_TONES[outcomeOf(attempt)], String(attempt.status ?? words.noResponse))

/** The status of the last attempt, in the colour of its outcome; a dash without a response. */
export const outcomeBadge = (frame: Frame, last: LastAttempt): Html =>
  isSkipped(last) ? statusBadge(frame, last) : answerBadge(frame, last)

const answerBadge = ({ words }: Frame, { outcome, status }: LastAttempt): Html =>
  markup`<span title="${words.deliveries.outcomes[outcome]}">${badge(OUTCOME_TONES[outcome], status === null ? "—" : String(status))}</span>${status === null && markup`<span class="hide">${words.deliveries.outcomes[outcome]}</span>`}`

/** The reason of the last attempt, made of what the list keeps of its response. */
export const lastReason = (frame: Frame, { status, failure, said }: LastAttempt): string | null =>
  reasonIn(frame, { status, failure, responseBody: said })

/** What happens next, and when. */
export const nextStep = (
  { words: { deliveries: words } }: Frame,
  { state, attempts, dueAt, type }: Delivery,
  address: Address | null,
  moment: ShowMoment,
): HtmlValue => {
  if (state === "delivered") return words.arrived(attempts)
  if (state === "cancelled") return words.stopped
  if (state === "failed") return type === "ping" ? words.pingEnds : null
  if (address?.pausedAt != null) return words.heldBack
  return markup`${attempts === 0 ? words.sentNext : words.triedAgain(attempts + 1)} ${moment(dueAt)}`
}
