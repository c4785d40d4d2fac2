/** The payload of a stored event as a rebuilt row takes it. */
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import type { RowSource } from "./EnsureColumns.ts"
import { readPayload } from "./StoredRows.ts"
import type { RebuildPlan } from "@data-cabinet/core/row/RebuildStore"
import { nestedFields } from "@data-cabinet/core/intake/NestedFields"

/** The event's fields as its row takes them, parsed on first use: a fault in parsing is a fault of this row only. */
export class RebuiltPayload implements RowSource {
  readonly #stored: string
  readonly #change: ((payload: JsonObject) => JsonObject) | null
  #payload: JsonObject | undefined
  #text: string | undefined

  constructor(stored: string, change: ((payload: JsonObject) => JsonObject) | null) {
    this.#stored = stored
    this.#change = change
  }

  get payload(): JsonObject {
    if (this.#payload === undefined) {
      const read = readPayload(this.#stored)
      this.#payload = this.#change === null ? read : this.#change(read)
    }
    return this.#payload
  }

  get text(): string {
    return (this.#text ??= this.#change === null ? this.#stored : jsonText(this.payload))
  }
}

/** Nests and leaves out what the row takes otherwise; null if the row takes the payload as it is. */
export const payloadChange = (
  { nestBrackets }: Pick<RebuildPlan, "nestBrackets">,
  carried: ReadonlySet<string>,
): ((payload: JsonObject) => JsonObject) | null => {
  if (!nestBrackets && carried.size === 0) return null
  return (payload) => {
    const nested = nestBrackets ? nestedFields(payload) : payload
    return carried.size === 0 ? nested : new Map([...nested].filter(([field]) => !carried.has(field)))
  }
}
