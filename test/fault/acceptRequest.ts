/** What a server asks of the event log for one submission. */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"

/** A body of the shared ones is fingerprinted, any other is alone of its kind. */
export const requestOf = (sourceId: number, body: string, shared: boolean, file = false): AcceptRequest => {
  const event = fingerprintedEvent(new Map([["body", body]]))
  return {
    sourceId,
    sourceVersion: 1,
    channel: file ? "file" : "webhook",
    history: false,
    events: [shared ? event : { ...event, fingerprint: null }],
    original: null,
  }
}
