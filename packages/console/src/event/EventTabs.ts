/** The tabs above the lists of events. */
import type { HtmlValue } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { tabs } from "../html/Tabs.ts"

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
