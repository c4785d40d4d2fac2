/** The filter of an inbox, as its address says it. */
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { SHOWN_MARKS } from "./InboxScreen.ts"

const LIST_LIMIT = 50

/** An unknown filter is ignored: a person typed this address, not a program. */
export const inboxQuery = (pairs: Pairs) => {
  const shown = SHOWN_MARKS.find((one) => one === valueOf(pairs, "mark")) ?? "open"
  const text = valueOf(pairs, "text")?.replaceAll("\0", "").trim() ?? ""
  return {
    mark: shown === "all" ? null : shown,
    text: text === "" ? null : text,
    limit: LIST_LIMIT,
    cursor: valueOf(pairs, "cursor"),
  }
}
