/** The outcome of verifying a request, at intake and afterwards, and the forms that check it again. */
import type { StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import type { EventVerdict } from "@data-cabinet/core/verification/Verification"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { actButton, postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import type { Words } from "../words/Words.ts"
import type { ReadEvent } from "./EventJson.ts"

export const verdictIn = (
  { verifiedBy, notVerifiedBy, refusals }: Words["event"],
  { recipe, refusal }: EventVerdict,
): string => (refusal === null ? verifiedBy(recipe) : notVerifiedBy(recipe, refusals[refusal]))

/** The outcome of the late check, and its time. */
export const lateVerdictIn = (words: Words["event"], late: NonNullable<StoredOriginal["late"]>): string =>
  `${late.at}: ${verdictIn(words, late)}${late.deliveredAt === null ? "" : `, ${words.deliveredLate}`}`

/** For an unverified request, or one whose events are undelivered for that reason. */
export const checkForms = (frame: Frame, event: ReadEvent, original: StoredOriginal | null): HtmlValue => {
  const { event: words } = frame.words
  if (original === null || !may(frame, "event.verify")) return null
  const path = consolePath(frame, `events/${event.id}/verify`)
  const delivering = (face: string) =>
    postForm({
      path,
      body: markup`<input type="hidden" name="deliver" value="yes"><button>${face}</button>`,
    })
  if (event.verified !== true) {
    return markup`<p class="soft">${words.verifyHint}</p><div class="row wrap">${actButton(path, words.verify)}${delivering(words.verifyAndDeliver)}</div>`
  }
  const { late } = original
  return late !== null && late.refusal === null && late.deliveredAt === null && delivering(words.deliverVerified)
}
