/**
 * A JSON value that keeps what a double or a plain object would lose: the digits of a number as they were sent, and the
 * order of an object's keys (a JavaScript object moves keys like "7" to the front).
 */

/** A number by its token, exactly as it stood in the text: `1.0`, `12345678901234567890`, `1e400`. */
export class JsonNumber {
  readonly token: string
  constructor(token: string) {
    this.token = token
  }
}

/** An object: keys in the order of their first appearance, the last value of a key that came twice. */
export type JsonObject = ReadonlyMap<string, Json>

export type Json = null | boolean | string | JsonNumber | ReadonlyArray<Json> | JsonObject

/** What has nothing inside it is this one: a megabyte of `{}` would be made into sixty. */
export const EMPTY_OBJECT: JsonObject = new Map()
export const EMPTY_LIST: ReadonlyArray<Json> = Object.freeze([])

/** `Array.isArray` forgets what a read-only list holds. */
export const isJsonList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)
