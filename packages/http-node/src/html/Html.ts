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
  // As a bare character it would be read as a line feed.
  "\r": "&#13;",
}

/** Text for an element's content or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"'\r]/g, (char) => ESCAPES[char] ?? char)

const CHARACTERS = new Map(Object.entries(ESCAPES).map(([char, escape]) => [escape, char]))

/** The text that `escapeHtml` escaped. */
export const unescapeHtml = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39|#13);/g, (escape) => CHARACTERS.get(escape)!)

/** The values in a template; `null` and `false` render nothing, a list renders its items one after another. */
export type HtmlValue = Html | string | number | null | false | ReadonlyArray<HtmlValue>

/**
 * A template whose values are escaped. Attributes must be written in quotes. It is not called `html` because formatters
 * indent such templates, and the hash of a page's style counts every space.
 */
export const markup = (parts: TemplateStringsArray, ...values: ReadonlyArray<HtmlValue>): Html => {
  let text = parts[0] ?? ""
  for (let index = 0; index < values.length; index++) {
    text += rendered(values[index]!) + (parts[index + 1] ?? "")
  }
  return new Html(text)
}

const rendered = (value: HtmlValue): string => {
  if (value instanceof Html) return value.text
  if (value === null || value === false) return ""
  return typeof value === "object" ? value.map(rendered).join("") : escapeHtml(String(value))
}
