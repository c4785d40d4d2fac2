/** By what a polled item is known again. */
import { hash } from "node:crypto"
import type { JsonObject } from "../json/Json.ts"
import { canonicalJsonText } from "../json/JsonText.ts"
import { atPointer } from "../file/JsonReader.ts"

/**
 * 32 bytes: of the key field's value where the item has one that is not null, else of the whole content. A number and a
 * text of the same characters are two keys; `1` and `1.0` are two as well, as they are everywhere else here.
 */
export const itemKey = (item: JsonObject, keyField: string | null): Uint8Array => {
  const value =
    keyField === null ? undefined : keyField.startsWith("/") ? atPointer(item, keyField) : item.get(keyField)
  const text =
    value === undefined || value === null ? `content ${canonicalJsonText(item)}` : `key ${canonicalJsonText(value)}`
  return hash("sha256", text, "buffer")
}
