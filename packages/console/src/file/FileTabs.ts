/** The two ways in besides the intake address: files and polls. */
import type { HtmlValue } from "@data-cabinet/http-node/html/Html"
import type { Frame } from "../html/Shell.ts"
import { tabs } from "../html/Tabs.ts"

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
