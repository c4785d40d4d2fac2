/** The key by which a polled item is recognized. */
import { hash } from "node:crypto"
import type { Json, JsonObject } from "../json/Json.ts"
import { canonicalJsonText } from "../json/JsonText.ts"
import { atPointer } from "../file/PointedReader.ts"

/**
 * 32 bytes: the hash of the key field's value if the item has one that is not null, otherwise of the whole content. A
 * number and a text with the same characters are two keys; so are `1` and `1.0`, as everywhere else.
 */
export const itemKey = (item: JsonObject, keyField: string | null): Uint8Array => {
  const value = keyValue(item, keyField)
  const text = value === null ? `content ${canonicalJsonText(item)}` : `key ${canonicalJsonText(value)}`
  return hash("sha256", text, "buffer")
}

/** The value of the key field; null if the whole content counts. */
export const keyValue = (item: JsonObject, keyField: string | null): Json => {
  if (keyField === null) return null
  return (keyField.startsWith("/") ? atPointer(item, keyField) : item.get(keyField)) ?? null
}
