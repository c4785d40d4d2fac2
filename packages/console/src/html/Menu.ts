/** A button with a menu: the browser's own popover, which needs no script, closes with Esc and is above everything else. */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

/** A menu of a screen. */
export interface Menu {
  readonly id: string
  /** The button's content. */
  readonly face: HtmlValue
  /** For a button that shows only a sign. */
  readonly label?: string
  readonly kind?: string
  readonly body: HtmlValue
}

export const menuButton = ({ id, face, label, kind = "" }: Menu): Html =>
  label === undefined
    ? markup`<button type="button" class="${kind}" popovertarget="${id}">${face}</button>`
    : markup`<button type="button" class="${kind}" popovertarget="${id}" aria-label="${label}">${face}</button>`

export const menuBody = ({ id, body }: Menu): Html => markup`<div class="menu" popover id="${id}">${body}</div>`

export const menu = (one: Menu): Html => markup`${menuButton(one)}${menuBody(one)}`

/** A text to copy: selected by hand, or by the button where the script runs. */
export const copyField = (id: string, label: string, text: string, copy: string): Html =>
  markup`<label class="copy" for="${id}">${label}</label><div class="row"><input id="${id}" readonly class="mono" value="${text}"><button type="button" data-copy="${id}">${copy}</button></div>`
