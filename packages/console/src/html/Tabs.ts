/** The screens of one section as tabs, without those that the person may not see. */
import type { Action } from "@data-cabinet/core/key/Role"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { consolePath, type Frame, may } from "./Shell.ts"

export interface Tab {
  /** Its address below `/console/`. */
  readonly path: string
  readonly text: string
  readonly action: Action
}

export const tabs = (frame: Frame, label: string, all: ReadonlyArray<Tab>, current: string): HtmlValue => {
  const seen = all.filter(({ action }) => may(frame, action))
  if (seen.length < 2) return null
  const tab = ({ path, text }: Tab) =>
    markup`<li><a href="${consolePath(frame, path)}"${path === current && new Html(' aria-current="page"')}>${text}</a></li>`
  return markup`<nav class="tabs" aria-label="${label}"><ul>${seen.map(tab)}</ul></nav>`
}
