/** A line above a screen with the outcome of the visitor's last act. */
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { Screen } from "../html/Shell.ts"

export const lineAbove = (screen: Screen, text: string, more: HtmlValue = null): Screen => ({
  ...screen,
  main: markup`<div class="box good above" role="status"><p>${text}</p>${more}</div>${screen.main}`,
})
