/** The tabs of people, tokens, sessions and the audit log. */
import type { HtmlValue } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { tabs } from "../html/Tabs.ts"

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
