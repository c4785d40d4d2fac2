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

/** The tabs of people, tokens, sessions and the audit log. */
export const peopleTabs = (frame: Frame, current: "people" | "tokens" | "sessions" | "audit"): HtmlValue => {
  const { people } = frame.words
  return tabs(
    frame,
    people.title,
    [
      { path: "people", text: people.title, action: "person.read" },
      { path: "tokens", text: people.tokens, action: "token.read" },
      { path: "sessions", text: people.sessions, action: "session.read" },
      { path: "audit", text: people.audit, action: "audit.read" },
    ],
    current,
  )
}

/** The tabs above the lists of events. */
export const eventTabs = (frame: Frame, current: "events" | "trash" | "events/erase"): HtmlValue => {
  const { event: words, erasure } = frame.words
  return tabs(
    frame,
    words.title,
    [
      { path: "events", text: words.list, action: "event.read" },
      { path: "trash", text: words.trash, action: "event.read" },
      { path: "events/erase", text: erasure.tab, action: "event.purge" },
    ],
    current,
  )
}

/** The two ways in besides the intake address: files and polls. */
export const fileTabs = (frame: Frame, current: "files" | "polls"): HtmlValue => {
  const { file } = frame.words
  return tabs(
    frame,
    file.title,
    [
      { path: "files", text: file.files, action: "import.read" },
      { path: "polls", text: file.polls, action: "poll.read" },
    ],
    current,
  )
}

/** The tabs of what leaves the cabinet: programs and addresses, and files. */
export const integrationTabs = (frame: Frame, current: "integrations" | "destinations"): HtmlValue => {
  const { sections, integration, destination } = frame.words
  return tabs(
    frame,
    sections.integrations,
    [
      { path: "integrations", text: integration.tab, action: "address.read" },
      { path: "destinations", text: destination.title, action: "destination.read" },
    ],
    current,
  )
}
