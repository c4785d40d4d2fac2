/** Why a tool returned nothing, in words for an agent. */
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { FeedError } from "../feed/FeedError.ts"
import type { ReadError } from "../row/ReadError.ts"
import type { SelectionError } from "../selection/SelectionError.ts"

export interface ToolRefusal {
  readonly code: string
  readonly message: string
  /** Whole seconds; 0 if a retry cannot help. */
  readonly retryAfter: number
}

export const toolRefusal = (code: string, message: string, retryAfter = 0): ToolRefusal => ({
  code,
  message,
  retryAfter,
})

type Refused = FeedError | ReadError | SelectionError | StoreUnavailable | ToolRefusal

/** Whether the message may quote a sender: a name, a value, or a message of the database about them. */
export const isWordedOutside = (error: Refused): boolean => "_tag" in error && error._tag !== "FeedError"

/** Words a refusal for an agent, with its code and the time of a retry. */
export const refusalText = (error: Refused): string => {
  const code = "code" in error ? error.code : "reader_off"
  const message = /[.?!]$/.test(error.message) ? error.message : `${error.message}.`
  const retryAfter = "retryAfter" in error ? error.retryAfter : 0
  const hint = code === "no_such_table" ? " list_tables has those that can be read." : ""
  return `${message}${hint}${retryAfter > 0 ? ` Try again in ${retryAfter} s.` : ""} (${code})`
}
