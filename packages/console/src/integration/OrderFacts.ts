/** The order of an address: how far it has come, and skipping the event at which it waits. */
import type { Address, OrderedPosition } from "@data-cabinet/core/delivery/Address"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import { postForm } from "../html/PostForm.ts"
import { shortName } from "../html/LongText.ts"
import { consolePath, type Frame, may } from "../html/Shell.ts"
import { reasonIn } from "./DeliveryReason.ts"
import { shownUrl } from "./IntegrationScreen.ts"
import { timeText } from "../html/Moment.ts"

/** Why it waits, in the language of the page. */
const whyOf = (frame: Frame, { error }: OrderedPosition): string | null => {
  if (error === null) return null
  const status = /^responded with (\d{3})$/.exec(error)?.[1]
  const attempt = { status: status === undefined ? null : Number(status), failure: status === undefined ? error : null }
  return reasonIn(frame, { ...attempt, responseBody: null })
}

/** Whose subscription an address is, and until when; null for the owner's. */
export const subscriptionFacts = (frame: Frame, { subscription }: Address, timeZone: string): HtmlValue => {
  const { integration: words } = frame.words
  return (
    subscription !== null &&
    markup`<dt>${words.agent}</dt><dd>${subscription.agent} · <span class="mono">${subscription.event}</span></dd><dd>${words.agentUntil} ${timeText(timeZone)(subscription.endsAt)}</dd>`
  )
}

const eventLink = (frame: Frame, id: number): Html => markup`<a href="${consolePath(frame, `events/${id}`)}">#${id}</a>`

export const positionFacts = (frame: Frame, { position }: Address, timeZone: string): HtmlValue => {
  const { integration: words } = frame.words
  if (position === null) return null
  const { eventId, behindSeconds, waitsAt, retryAt } = position
  const waits =
    retryAt !== null &&
    markup` · ${waitsAt !== null && markup`${words.waitsAt} ${eventLink(frame, waitsAt)}: `}${whyOf(frame, position)} ${words.triedNext} ${timeText(timeZone)(retryAt)}`
  return markup`<dt>${words.feedPosition}</dt><dd>${words.atEvent(eventId, Math.round(behindSeconds))}${waits}</dd>`
}

/** Addresses that wait at an event: the list of deliveries has no line for that event. */
export const waitingInOrder = (frame: Frame, addresses: ReadonlyArray<Address>, timeZone: string): HtmlValue => {
  const { integration: words, deliveries, overview } = frame.words
  return addresses.map((address) => {
    const { retryAt } = address.position!
    const next = retryAt !== null && markup` ${words.triedNext} ${timeText(timeZone)(retryAt)}`
    return markup`<div class="box warn">${ICONS.alert}<div class="grow"><p><b>${shortName(shownUrl(frame, address))}</b> · ${whyOf(frame, address.position!)}${next}</p><p>${deliveries.waitsInOrder}</p></div><a class="button" href="${consolePath(frame, `addresses/${address.id}`)}">${overview.why}</a></div>`
  })
}

export const skipForm = (frame: Frame, { id, position }: Address): HtmlValue => {
  const { integration: words } = frame.words
  if (position === null || position.waitsAt === null || !may(frame, "delivery.change")) return null
  return markup`<section class="card" aria-labelledby="skip"><h2 id="skip">${words.skipEvent} #${position.waitsAt}</h2>${postForm(
    {
      path: consolePath(frame, `addresses/${id}/skip`),
      kind: "row wrap ends",
      body: markup`<input type="hidden" name="event" value="${position.waitsAt}"><label>${words.skipReason} <input name="reason" required maxlength="500" autocomplete="off"></label><button>${words.skipNow}</button>`,
    },
  )}<p class="soft">${words.skipHint}</p></section>`
}
