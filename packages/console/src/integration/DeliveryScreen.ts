/** One delivery: its address and event, every attempt with its response, and the actions that resend or cancel it. */
import type { Address } from "@data-cabinet/core/delivery/Address"
import type { Attempt, Delivery } from "@data-cabinet/core/delivery/Attempt"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import { momentsIn } from "../html/Moment.ts"
import { postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { attemptTable } from "./AttemptTable.ts"
import { attemptTimeline } from "./AttemptTimeline.ts"
import { lastReason, nextStep, outcomeBadge } from "./DeliveryReason.ts"
import { shownUrl } from "./IntegrationScreen.ts"

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  due: "warn",
  delivered: "good",
  failed: "bad",
  cancelled: "quiet",
}

export const deliveryState = ({ words: { event: words } }: Frame, { state }: Pick<Delivery, "state">): Html =>
  badge(TONES[state], words.deliveryStates[state] ?? state)

/** `from`: the screen to which they lead back. A ping is not sent again, but by a new one. */
export const deliveryActs = (
  frame: Frame,
  { id, state, type }: Pick<Delivery, "id" | "state" | "type">,
  from: "event" | "delivery",
): HtmlValue => {
  const { integration: words } = frame.words
  if (!may(frame, "delivery.change") || type === "ping") return null
  const button = (name: string, text: string) =>
    postForm({
      path: consolePath(frame, `deliveries/${id}/${name}`),
      body: markup`<input type="hidden" name="from" value="${from}"><button>${text}</button>`,
    })
  return markup`<div class="row wrap right">${button("resend", words.sendAgain)}${state === "due" && button("cancel", words.stop)}</div>`
}

export interface DeliveryData {
  readonly delivery: Delivery
  /** Null if it was removed. */
  readonly address: Address | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly timeZone: string
}

export const deliveryScreen = (frame: Frame, { delivery, address, attempts, timeZone }: DeliveryData): Screen => {
  const { integration: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const { lastAttempt: last } = delivery
  const reason = last === null ? null : lastReason(frame, last)
  const to =
    address === null
      ? `${event.address} ${delivery.addressId}`
      : markup`<a href="${consolePath(frame, `addresses/${address.id}`)}">${shownUrl(frame, address)}</a>`
  return {
    title: `${words.delivery} ${delivery.id}`,
    section: "deliveries",
    main: markup`<p>${
      delivery.eventId === null
        ? markup`<a href="${consolePath(frame, "deliveries")}">← ${frame.words.sections.deliveries}</a>`
        : markup`<a href="${consolePath(frame, `events/${delivery.eventId}`)}">← ${event.title} #${delivery.eventId}</a>`
    }</p>
<div class="head"><h1>${words.delivery} ${delivery.id} ${deliveryState(frame, delivery)}</h1>${deliveryActs(frame, delivery, "delivery")}</div>
<section class="card" aria-label="${words.delivery}"><p>${last !== null && markup`${outcomeBadge(frame, last)} `}${reason !== null && markup`<b>${reason}</b> `}${nextStep(frame, delivery, address, moment)}</p>${attemptTimeline(frame, attempts, delivery.dueAt, timeZone)}<dl class="facts"><dt>${event.address}</dt><dd>${to}</dd><dt>${words.createdAt}</dt><dd>${moment(delivery.createdAt)}</dd></dl></section>
<section aria-labelledby="attempts"><h2 id="attempts">${event.attempts}</h2>${attemptTable(frame, attempts, timeZone)}</section>`,
  }
}
