/** One delivery, on its own screen and beside the list, with the actions that resend or cancel it. */
import type { Delivery } from "@data-cabinet/core/delivery/Attempt"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import { formsAt, postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { type DeliveryData, deliveryDetail } from "./DeliveryDetail.ts"

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  due: "warn",
  delivered: "good",
  failed: "bad",
  cancelled: "quiet",
}

export const deliveryState = ({ words: { event: words } }: Frame, { state }: Pick<Delivery, "state">): Html =>
  badge(TONES[state], words.deliveryStates[state] ?? state)

/** Where the acts lead back to. `list`: where the delivery was opened from; a panel is open there again. */
export interface ActsOn {
  readonly from: "event" | "delivery" | "panel"
  readonly list: string
}

/** A ping is not sent again; a new one is sent instead. */
export const deliveryActs = (
  frame: Frame,
  { id, state, type }: Pick<Delivery, "id" | "state" | "type">,
  { from, list }: ActsOn,
): HtmlValue => {
  const { integration: words } = frame.words
  if (!may(frame, "delivery.change") || type === "ping") return null
  // A browser keeps the fragment of a form's address when it is redirected.
  const open = from === "panel" ? `#open-delivery-${id}` : ""
  const button = (name: string, text: string) =>
    postForm({
      path: `${consolePath(frame, `deliveries/${id}/${name}`)}${open}`,
      body: markup`<input type="hidden" name="from" value="${from}"><input type="hidden" name="list" value="${list}"><button>${text}</button>`,
    })
  return markup`<div class="row wrap${from !== "panel" && " right"}">${button("resend", words.sendAgain)}${state === "due" && button("cancel", words.stop)}</div>`
}

/** Its acts lead back to the list. */
export const deliveryPanel = (frame: Frame, data: DeliveryData): Html => {
  const { delivery, list } = data
  const { integration, close } = frame.words
  const panel = markup`<div class="head"><h2>${integration.delivery} ${delivery.id} ${deliveryState(frame, delivery)}</h2><button type="button" data-close>${close}</button></div>${deliveryActs(frame, delivery, { from: "panel", list })}${deliveryDetail(frame, data, true)}`
  return formsAt(panel, `/console/${list}`)
}

export const deliveryScreen = (frame: Frame, data: DeliveryData): Screen => {
  const { delivery, list } = data
  const { integration: words, sections, event } = frame.words
  const [, ofEvent] = /^events\/(\d+)$/.exec(list) ?? []
  const back =
    ofEvent === undefined
      ? markup`<a href="${consolePath(frame, list)}#delivery-${delivery.id}">← ${sections.deliveries}</a>`
      : markup`<a href="${consolePath(frame, list)}">← ${event.title} #${ofEvent}</a>`
  return {
    title: `${words.delivery} ${delivery.id}`,
    section: "deliveries",
    main: markup`<p>${back}</p>
<div class="head"><h1>${words.delivery} ${delivery.id} ${deliveryState(frame, delivery)}</h1>${deliveryActs(frame, delivery, { from: "delivery", list })}</div>
<section class="card" aria-label="${words.delivery}">${deliveryDetail(frame, data, false)}</section>`,
  }
}
