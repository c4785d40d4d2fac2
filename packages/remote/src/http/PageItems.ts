/** The pages of the API, with their items as sent. */
import { Items } from "@data-cabinet/core/pagination/Items"
import { elements, members } from "./RawJson.ts"

export const itemsOf = (texts: ReadonlyArray<string>): Items => {
  const ends: Array<number> = []
  let at = 0
  for (const text of texts) {
    at += Buffer.byteLength(text)
    ends.push(at)
    at += 1
  }
  return new Items(Buffer.from(texts.join(",")), 0, ends)
}

export interface SentPage {
  readonly items: Items
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly members: ReadonlyMap<string, string>
}

export const pageOf = (text: string): SentPage => {
  const parts = members(text)
  return {
    items: itemsOf(elements(parts.get("data") ?? "[]")),
    hasMore: parts.get("has_more") === "true",
    nextCursor: JSON.parse(parts.get("next_cursor") ?? "null") as string | null,
    members: parts,
  }
}
