/**
 * JSON as a tree that opens and closes without a script. Keys keep the order of the text, and numbers are the text's
 * own tokens with all their digits. The tree stops at a depth and a size that a person can still read; text beyond that
 * is shown unchanged, so nothing is left out.
 */
import { isJsonList, type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { Html, markup } from "@data-cabinet/http-node/html/Html"
import { Result } from "effect"
import { longText } from "./LongText.ts"

const MAX_DEPTH = 20
/** Larger structures begin closed. */
const OPEN_ITEMS = 30
const MAX_ITEMS = 2_000
const LONG_CHARACTERS = 2_048
/** A longer text is shown unchanged; as a tree it would be many times as long. */
const MAX_CHARACTERS = 200_000

/** How many more values a screen may show as trees: hundreds of thousands of elements keep a browser busy for seconds. */
export interface TreeRoom {
  values: number
}

export const treeRoom = (): TreeRoom => ({ values: 5_000 })

/** `room`: shared by the trees of a screen. */
export const jsonTree = (text: string, room = treeRoom()): Html => {
  const parsed = text.length > MAX_CHARACTERS ? undefined : Result.getOrUndefined(parseJson(text))
  const values = parsed === undefined ? 0 : valuesIn(parsed)
  if (parsed === undefined || values > room.values)
    return markup`<pre class="text" tabindex="0">\n${longText(text)}</pre>`
  room.values -= values
  return markup`<div class="tree mono">${node(parsed, 0)}</div>`
}

const valuesIn = (value: Json): number => {
  if (value === null || typeof value !== "object" || value instanceof JsonNumber) return 1
  let values = 1
  for (const item of value.values()) values += valuesIn(item)
  return values
}

const node = (value: Json, depth: number): Html => {
  if (value === null || typeof value === "boolean") return markup`<span class="k">${String(value)}</span>`
  if (typeof value === "string") return plain(JSON.stringify(value))
  if (value instanceof JsonNumber) return markup`<span class="d">${value.token}</span>`
  if (isJsonList(value))
    return branch(
      value.map((item, index) => [String(index), item] as const),
      "[",
      "]",
      depth,
      value,
    )
  return branch(
    [...value].map(([key, item]) => [JSON.stringify(key), item] as const),
    "{",
    "}",
    depth,
    value,
  )
}

/** A long one scrolls in a box of its own. */
const plain = (shown: string): Html =>
  shown.length > LONG_CHARACTERS
    ? markup`<span class="s tall" tabindex="0">${longText(shown)}</span>`
    : markup`<span class="s">${shown}</span>`

const branch = (
  entries: ReadonlyArray<readonly [key: string, value: Json]>,
  open: string,
  close: string,
  depth: number,
  whole: Json,
): Html => {
  if (entries.length === 0) return markup`${open}${close}`
  if (depth >= MAX_DEPTH || entries.length > MAX_ITEMS) return plain(jsonText(whole))
  const isOpen = depth < 3 && entries.length <= OPEN_ITEMS
  return markup`<details${isOpen && new Html(" open")}><summary>${open}<i> ${entries.length} </i>${close}</summary><ul>${entries.map(
    ([key, value]) => markup`<li><b>${longText(key)}</b>: ${node(value, depth + 1)}</li>`,
  )}</ul></details>`
}
