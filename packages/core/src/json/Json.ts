/**
 * A JSON value that keeps what a double or a plain object would lose: the digits of a number as sent, and the order of an
 * object's keys (a JavaScript object moves keys like "7" to the front).
 */

/** A number as its token, exactly as in the text: `1.0`, `12345678901234567890`, `1e400`. */
export class JsonNumber {
  readonly token: string
  constructor(token: string) {
    this.token = token
  }
}

/** An object: keys in the order of their first appearance; a repeated key has its last value. */
export type JsonObject = ReadonlyMap<string, Json>

export type Json = null | boolean | string | JsonNumber | ReadonlyArray<Json> | JsonObject

/** Shared by all empty objects: a megabyte of `{}` would otherwise take sixty. */
export const EMPTY_OBJECT: JsonObject = new Map()
/** Shared by all empty lists. */
export const EMPTY_LIST: ReadonlyArray<Json> = Object.freeze([])

/** `Array.isArray` loses the item type of a read-only list. */
export const isJsonList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)
