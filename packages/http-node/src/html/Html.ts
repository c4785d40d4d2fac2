/** HTML templates that cannot be injected into: every value is escaped, unless it is `Html` already. */

/** Markup that is safe to send as is. Created by `markup`, or from our own text. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Text for an element's content or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char)

/**
 * A template whose values are escaped; `null` renders nothing. Attributes must be written in quotes. It is not called
 * `html` because formatters indent such templates, and the hash of a page's style counts every space.
 */
export const markup = (parts: TemplateStringsArray, ...values: ReadonlyArray<Html | string | number | null>): Html => {
  let text = parts[0] ?? ""
  values.forEach((value, index) => {
    text += value instanceof Html ? value.text : value === null ? "" : escapeHtml(String(value))
    text += parts[index + 1] ?? ""
  })
  return new Html(text)
}
