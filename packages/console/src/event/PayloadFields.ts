/** The fields of an event, as they were sent: their whole texts, and the digits of their numbers. */
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { boundedText, longText } from "../html/LongText.ts"
import { jsonTree, type TreeRoom, treeRoom } from "../html/JsonTree.ts"
import type { Frame } from "../html/Shell.ts"

const valueOf = ({ words }: Frame, value: Json, room: TreeRoom): Html => {
  if (value === null) return markup`<span class="soft">null</span>`
  if (typeof value === "string") return boundedText(words, value, "")
  if (value instanceof JsonNumber) return boundedText(words, value.token, "mono")
  return typeof value === "boolean"
    ? markup`<span class="mono">${String(value)}</span>`
    : jsonTree(jsonText(value), room)
}

/** A longer list keeps a browser busy for minutes. */
const MAX_FIELDS = 2_000

const NONE: ReadonlySet<string> = new Set()

/** `except`: fields that are shown elsewhere. */
export const payloadFields = (frame: Frame, payload: Json, except = NONE): Html => {
  const room = treeRoom()
  if (!(payload instanceof Map)) return valueOf(frame, payload, room)
  const shown = [...payload.entries().take(MAX_FIELDS)]
  const line = ([name, value]: readonly [string, Json]) =>
    markup`<dt>${longText(name)}</dt><dd>${valueOf(frame, value, room)}</dd>`
  const more = payload.size - shown.length
  return markup`<dl class="facts whole">${shown.filter(([name]) => !except.has(name)).map(line)}</dl>${more > 0 && markup`<p class="soft">${frame.words.event.moreFields(more)}</p>`}`
}
