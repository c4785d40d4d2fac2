/** The request of a server to the event log for one submission. */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import type { AcceptRequest } from "@data-cabinet/core/event/EventLog"

/** Shared bodies have equal fingerprints, and any other body is unique. */
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
