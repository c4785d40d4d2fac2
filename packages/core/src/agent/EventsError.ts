/** Why a request for events is refused, by the error codes of the protocol's extension for events. */
import type { FeedError } from "../feed/FeedError.ts"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The kinds of refusals; `AgentServer` has their codes. */
export type EventsErrorKind = "params" | "internal" | "missing" | "forbidden" | "exhausted" | "unsupported" | "callback"

/** `data` is what a client may branch on. */
export interface EventsError {
  readonly kind: EventsErrorKind
  readonly message: string
  readonly data?: object
}

/** The refusal of a request whose parameters are wrong. */
export const badParams = (message: string): EventsError => ({ kind: "params", message })

/** An unknown name, or one that this reader may not know. */
export const noSuchEventType = (shownName: string): EventsError => ({
  kind: "missing",
  message: `No event type is named ${shownName}. events/list has the names.`,
  data: { kind: "event" },
})

/** The refusal for an error of the feed. */
export const eventsErrorOf = (error: FeedError | StoreUnavailable | EventsError): EventsError => {
  if (error instanceof StoreUnavailable) {
    return { kind: "internal", message: "The database does not respond. Try again." }
  }
  if ("kind" in error) return error
  if (error.code !== "no_such_source") return badParams(error.message)
  return { kind: "missing", message: "The source of this event type no longer exists.", data: { kind: "event" } }
}
