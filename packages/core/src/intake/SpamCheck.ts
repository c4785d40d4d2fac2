/**
 * Decides by the rules of a source which events of a request are spam. This filters programs that fill in every form; a
 * program written for this form passes, so the result proves nothing about a sender.
 *
 * Decision: docs/decisions/0074-spam-is-an-event-alone.md
 */
import type { NewEvent } from "../event/EventLog.ts"
import { isFilled } from "../event/Payload.ts"
import { originOf, type SpamRules } from "../source/SpamRules.ts"
import type { Sender } from "./IntakeRequest.ts"

/** The events, with the reason on those that are spam. Spam takes no part in the detection of repeats. */
export const markedSpam = (
  { honeypot, allowOrigins }: SpamRules,
  { origin, referer }: Pick<Sender, "origin" | "referer">,
  events: ReadonlyArray<NewEvent>,
): ReadonlyArray<NewEvent> => {
  if (allowOrigins.length > 0 && !isAllowed(allowOrigins, origin, referer)) {
    return events.map((event) => ({ ...event, fingerprint: null, spam: "origin" }))
  }
  if (honeypot === null) return events
  return events.map((event) =>
    isFilled(event.payload.get(honeypot) ?? null) ? { ...event, fingerprint: null, spam: "honeypot" } : event,
  )
}

/** A browser sends the origin of its page, or `null` to withhold it. Old browsers send only the page's URL. */
const isAllowed = (allowed: ReadonlyArray<string>, origin: string | null, referer: string | null): boolean => {
  if (origin !== null) return allowed.includes(originOf(origin) ?? "")
  return referer !== null && URL.canParse(referer) && allowed.includes(new URL(referer).origin)
}
