/** The failure of an import or a poll: a sentence in the visitor's language, and the message, which names the cause. */
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { unturned } from "../words/IsolatedWords.ts"
import type { Frame } from "./Shell.ts"

/** Nothing without a failure. */
export const failureText = ({ words: { failed } }: Frame, failure: string | null): HtmlValue => {
  if (failure === null) return null
  const message: Html = markup`<small lang="en">${unturned(failure)}</small>`
  return failed === null ? message : markup`<small>${failed}</small>${message}`
}
