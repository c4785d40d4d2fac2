/**
 * An act that cannot be undone asks first, in place: its button opens a sentence that names what will stop, and the button that does
 * it. This is the browser's own popover, so it needs no script, closes with Esc, and gives the focus back.
 */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { menuButton } from "./Menu.ts"
import { postForm } from "./PostForm.ts"
import type { Frame } from "./Shell.ts"

/** The question to the visitor. */
export interface Question {
  /** Unique on its screen. */
  readonly id: string
  /** On the button that asks. */
  readonly face: HtmlValue
  readonly kind?: string
  /** What will stop, for whom, and what cannot be undone. */
  readonly says: string
  readonly path: string
  /** Hidden fields of the form. */
  readonly fields?: HtmlValue
  /** The button that does it, or several for a choice. */
  readonly acts: HtmlValue
}

export const confirmation = (
  frame: Frame,
  { id, face, kind = "danger", says, path, fields = null, acts }: Question,
): Html =>
  markup`${menuButton({ id, face: markup`${face}…`, kind, body: null })}<div class="menu ask" popover id="${id}" role="dialog" aria-labelledby="${id}-says" tabindex="-1" autofocus>${postForm(
    {
      path,
      body: markup`<p id="${id}-says">${says}</p>${fields}<div class="row wrap">${acts}<button type="button" popovertarget="${id}" popovertargetaction="hide">${frame.words.cancel}</button></div>`,
    },
  )}</div>`

/** With one button. */
export const confirmed = (
  frame: Frame,
  { act, ...question }: Omit<Question, "acts"> & { readonly act: string },
): Html => confirmation(frame, { ...question, acts: markup`<button class="danger">${act}</button>` })
