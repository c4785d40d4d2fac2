/**
 * The form of everything that a person does: it has a number of its own for each time that it was shown, by which it is known
 * again when it is sent again. See `screen/SentOnce.ts`.
 */
import { randomUUID } from "node:crypto"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

export const FORM_ID = "form_id"

interface PostForm {
  readonly path: string
  /** Its classes. */
  readonly kind?: string
  readonly id?: string
  readonly body: HtmlValue
}

/** Firefox keeps what stood in a field over a reload, hidden or not, unless it is told otherwise. */
export const postForm = ({ path, kind = "", id, body }: PostForm): Html =>
  markup`<form${id !== undefined && markup` id="${id}"`} method="post" action="${path}"${kind !== "" && markup` class="${kind}"`}><input type="hidden" name="${FORM_ID}" value="${randomUUID()}" autocomplete="off">${body}</form>`

/** A button that acts at once. */
export const actButton = (path: string, text: string, kind = ""): Html =>
  postForm({ path, body: markup`<button class="${kind}">${text}</button>` })
