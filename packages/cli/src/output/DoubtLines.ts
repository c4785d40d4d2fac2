/** Words the doubts about a file or a poll's response: values that were read, but deserve a look. */
import type { Doubt } from "@data-cabinet/core/file/Doubt"

/** A line for each, with its first places. */
export const doubtLines = (doubts: ReadonlyArray<Doubt>): ReadonlyArray<string> =>
  doubts.map(({ message, places, count }) => {
    if (places.length === 0) return message
    const at = places.map(({ line, column }) => (column === null ? `${line}` : `${line}:${column}`)).join(", ")
    return `${message} ${count === 1 ? "Line" : "Lines"} ${at}${count > places.length ? ", …" : "."}`
  })
