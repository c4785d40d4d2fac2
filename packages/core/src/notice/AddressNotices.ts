/** The notices about delivery addresses: failing, paused, waiting deliveries, and certificates that end. */
import { MOST_WAITING } from "../activity/ActivityStore.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { counted } from "../text/Counted.ts"
import { type Notice, notice } from "./Notice.ts"
import type * as Fact from "./NoticeFacts.ts"

/** The seconds of an hour. */
export const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/** A failing address gets a notice after failing for this long; if several stages have passed, only for the last. */
const STAGES = [
  { stage: "5d", seconds: 5 * DAY_SECONDS, words: "five days" },
  { stage: "1d", seconds: DAY_SECONDS, words: "a day" },
  { stage: "1h", seconds: HOUR_SECONDS, words: "an hour" },
] as const

/** This many deliveries waiting for one address give a notice; the cause lasts until fewer than half as many wait. */
const MANY_WAITING = MOST_WAITING

/** The cause of many waiting deliveries lasts while at least this many wait. */
export const STILL_MANY_WAITING = MANY_WAITING / 2
/** How long a due delivery may stay unsent. */
const LATE_SECONDS = 600

const CERTIFICATE_SECONDS = 14 * DAY_SECONDS

const addressWords = ({ id, url }: Fact.AddressFact): string => `Delivery address ${id} (${maskUrl(url)})`
const addressFields = ({ id, url }: Fact.AddressFact) => ({ address_id: id, url: maskUrl(url) })

/** The text as a sentence, with a full stop unless it has one. */
export const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Null until the address has failed for the first stage. */
export const failing = (one: Fact.FailingAddress): Notice | null => {
  const reached = STAGES.find(({ seconds }) => one.seconds >= seconds)
  if (reached === undefined) return null
  const { since, status, failure } = one
  return notice({
    kind: "address.failing",
    about: ["address", one.id],
    instance: `${since} ${reached.stage}`,
    since,
    message: endSentence(
      `${addressWords(one)} has failed for ${reached.words}${failure === null ? "" : `, last because of: ${failure}`}`,
    ),
    fields: { ...addressFields(one), stage: reached.stage, seconds: Math.floor(one.seconds), status, failure },
  })
}

/** Deliveries succeed again. */
export const recovered = (one: Fact.RecoveredAddress): Notice => {
  const { since, at } = one
  return notice({
    kind: "address.recovered",
    about: ["address", one.id],
    instance: since,
    since,
    message: `${addressWords(one)}, which had failed since ${since}, is delivered to again.`,
    fields: { ...addressFields(one), recovered_at: at },
  })
}

const PAUSED = {
  failing: "has been paused because it has failed for as long as it may",
  gone: "has been paused because it responded with 410 (gone)",
} as const

/** A person or the cabinet has paused the address. */
export const paused = (one: Fact.PausedAddress): Notice => {
  const { since, reason, by } = one
  const words = reason === null ? `has been paused by ${by ?? "somebody"}` : PAUSED[reason]
  return notice({
    kind: "address.paused",
    about: ["address", one.id],
    instance: since,
    since,
    message: `${addressWords(one)} ${words}. Its deliveries wait until it is resumed.`,
    fields: { ...addressFields(one), reason: reason ?? "person", by },
  })
}

/** Whether a due delivery has waited too long to be sent. */
export const isLate = ({ lateSeconds }: Fact.WaitingAddress): boolean => lateSeconds >= LATE_SECONDS

/** Null if too few deliveries wait for a notice, or for a new one. */
export const waiting = (one: Fact.WaitingAddress): Notice | null => {
  const { count, oldest } = one
  if (count < MANY_WAITING && !isLate(one)) return null
  const many =
    count >= MANY_WAITING
      ? `At least ${counted(count, "delivery", "deliveries")}`
      : counted(count, "delivery", "deliveries")
  const late = isLate(one) ? ", and have been due for over ten minutes without being sent" : ""
  return notice({
    kind: "deliveries.waiting",
    about: ["address", one.id],
    instance: "",
    since: oldest,
    ends: true,
    message: `${many} wait for ${addressWords(one).replace(/^D/, "d")}, the oldest since ${oldest}${late}.`,
    fields: { ...addressFields(one), reason: isLate(one) ? "not_sent" : "many", count },
  })
}

/** When it expires, in words; null if not soon. */
const endOf = ({ endsAt, seconds }: Fact.CertificateFact) => {
  if (seconds > CERTIFICATE_SECONDS) return null
  const days = Math.floor(seconds / DAY_SECONDS)
  return { days, words: seconds < 0 ? `ended at ${endsAt}` : `ends at ${endsAt}, in ${counted(days, "day")}` }
}

/** The receiver's certificate; null if it does not end soon. */
export const certificate = (one: Fact.CertificateFact): Notice | null => {
  const end = endOf(one)
  if (end === null) return null
  return notice({
    kind: "certificate.ending",
    about: ["address", one.id],
    instance: one.endsAt,
    since: null,
    message: `The certificate of ${addressWords(one).replace(/^D/, "d")} ${end.words}.`,
    fields: { ...addressFields(one), ends_at: one.endsAt, days_left: end.days },
  })
}

/** The certificate with which the cabinet identifies itself; null if it does not end soon. */
export const clientCertificate = (one: Fact.ClientCertificateFact): Notice | null => {
  const end = endOf(one)
  if (end === null) return null
  const { subject, fingerprint } = one.certificate
  return notice({
    kind: "client_certificate.ending",
    about: ["address", one.id],
    // Another one may end at the same time.
    instance: fingerprint,
    since: null,
    message: `The client certificate with which ${addressWords(one).replace(/^D/, "d")} is sent to (${subject}) ${end.words}.`,
    fields: { ...addressFields(one), certificate: subject, fingerprint, ends_at: one.endsAt, days_left: end.days },
  })
}
