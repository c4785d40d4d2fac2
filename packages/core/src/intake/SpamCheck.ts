/**
 * Which events of a request are spam, by the rules of their source. This filters what programs send that fill in every form; a
 * program that is written for this form passes, so it proves nothing about a sender.
 *
 * Decision: docs/decisions/0074-spam-is-an-event-alone.md
 */
import type { NewEvent } from "../event/EventLog.ts"
import { isFilled } from "../event/Payload.ts"
import { originOf, type SpamRules } from "../source/SpamRules.ts"
import type { Sender } from "./IntakeRequest.ts"

/** The events, of which those that are spam say why. They take no part in the detection of repeats. */
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

/** A browser says where its page is from; one that withholds it sends `null`. Old ones send the page's address alone. */
const isAllowed = (allowed: ReadonlyArray<string>, origin: string | null, referer: string | null): boolean => {
  if (origin !== null) return allowed.includes(originOf(origin) ?? "")
  return referer !== null && URL.canParse(referer) && allowed.includes(new URL(referer).origin)
}
