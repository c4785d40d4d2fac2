/**
 * A form that does something. Each rendering of it has its own id, by which a form that is sent twice is recognized
 * (`screen/SentOnce.ts`).
 */
import { randomUUID } from "node:crypto"
import { escapeHtml, Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"

export const FORM_ID = "form_id"
/** The address of the form's screen, where it is shown again, filled in, if it is refused. */
export const FORM_AT = "form_at"
/** The values that a form of settings was shown with (`screen/ChangedValues.ts`). */
export const FORM_SHOWN = "form_shown"

interface PostForm {
  readonly path: string
  /** Its classes. */
  readonly kind?: string
  readonly id?: string
  readonly body: HtmlValue
}

const ID_BEGIN = new Html(`<input type="hidden" name="${FORM_ID}"`)
const ID_FIELD = new RegExp(`${ID_BEGIN.text}[^>]*>`, "g")

/** With the address of their screen in every form. */
export const formsAt = (main: Html, at: string): Html => {
  const field = `<input type="hidden" name="${FORM_AT}" value="${escapeHtml(at)}" autocomplete="off">`
  return new Html(main.text.replace(ID_FIELD, (id) => id + field))
}

/** Firefox restores the value of a field after a reload, also a hidden one, unless `autocomplete` is off. */
export const postForm = ({ path, kind = "", id, body }: PostForm): Html =>
  markup`<form${id !== undefined && markup` id="${id}"`} method="post" action="${path}"${kind !== "" && markup` class="${kind}"`}>${ID_BEGIN} value="${randomUUID()}" autocomplete="off">${body}</form>`

/** A form that is only a button. */
export const actButton = (path: string, text: string, kind = ""): Html =>
  postForm({ path, body: markup`<button class="${kind}">${text}</button>` })
