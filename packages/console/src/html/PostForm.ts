/**
 * A form that does something. Each rendering of it has an id of its own, by which a form that is sent twice is recognised
 * (`screen/SentOnce.ts`).
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

/** Firefox restores the value of a field after a reload, also a hidden one, unless `autocomplete` is off. */
export const postForm = ({ path, kind = "", id, body }: PostForm): Html =>
  markup`<form${id !== undefined && markup` id="${id}"`} method="post" action="${path}"${kind !== "" && markup` class="${kind}"`}><input type="hidden" name="${FORM_ID}" value="${randomUUID()}" autocomplete="off">${body}</form>`

/** A form that is only a button. */
export const actButton = (path: string, text: string, kind = ""): Html =>
  postForm({ path, body: markup`<button class="${kind}">${text}</button>` })
