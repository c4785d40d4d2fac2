/** What a new or changed delivery address is checked for beyond its settings: URL, sources, client certificate, origin. */
import { Clock, Effect } from "effect"
import type { Address, Subscription } from "./Address.ts"
import {
  type AddressStore,
  MAX_ADDRESSES,
  MAX_FILTERED_ADDRESSES,
  MAX_ORDERED,
  type TooManyAddresses,
} from "./AddressStore.ts"
import { type AddressCheck, unfitAddress } from "./AddressCheck.ts"
import { AddressError } from "./AddressError.ts"
import { parseAddressUrl } from "./AddressUrl.ts"
import { checkPeriod, readIdentity } from "./ClientCertificate.ts"
import type { ClientIdentity } from "./ClientIdentity.ts"
import { keptHeaders } from "./HeaderChange.ts"
import type { AddressChange } from "./NewAddress.ts"

/** Returns the normalized URL; refuses one to which nothing may be sent. */
export const urlChecked = (check: AddressCheck["Service"]) =>
  Effect.fnUntraced(function* (text: string) {
    const url = yield* Effect.fromResult(parseAddressUrl(text))
    yield* Effect.mapError(check.check(url), unfitAddress)
    return url.href
  })

/** Refuses a list that names a source that does not exist. */
export const sourcesChecked = (store: AddressStore["Service"]) =>
  Effect.fnUntraced(function* (sources: Subscription) {
    const unknown = sources === "all" ? null : yield* store.unknownSource(sources)
    if (unknown === null) return
    return yield* new AddressError({ code: "no_such_source", message: `Source ${unknown} does not exist.` })
  })

/** A client certificate in its stored form. Only a TLS handshake shows it, so the URL must be https. */
export const checkedIdentity = Effect.fnUntraced(function* (given: ClientIdentity | null | undefined, url: string) {
  if (given === undefined) return {}
  if (given === null) return { clientIdentity: null }
  const clientIdentity = yield* Effect.fromResult(readIdentity(given))
  yield* Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fromResult(checkPeriod(clientIdentity, now)))
  if (url.startsWith("https:")) return { clientIdentity }
  const message = "A client certificate is for an address that begins with https://."
  return yield* new AddressError({ code: "bad_certificate", message })
})

/** Refuses a new origin for headers and a client certificate that the change does not give again. */
export const checkOrigin = Effect.fnUntraced(function* (was: Address, text: string, change: AddressChange) {
  const url = yield* Effect.fromResult(parseAddressUrl(text))
  const { origin } = new URL(was.url)
  const named = was.headerNames.map((name) => [name, null] as const)
  if (url.origin === origin) return
  if (was.clientCertificate !== null && change.clientIdentity === undefined) {
    const message = `The client certificate (${was.clientCertificate.subject}) was given for ${origin}: give it again for another origin, or remove it.`
    return yield* new AddressError({ code: "certificate_needed", message })
  }
  const kept = change.headers === undefined ? keptHeaders(named, change) : []
  if (kept.length === 0) return
  const message = `The headers ${kept.map(([name]) => name).join(", ")} were given for ${origin}: send them again for another origin, or an empty list to send none.`
  return yield* new AddressError({ code: "headers_needed", message })
})

/** The refusal when the limit on addresses is reached. */
export const tooMany = ({ sourceId, filtered }: TooManyAddresses, { order }: AddressChange) => {
  if (order === "feed") {
    const message = `${MAX_ORDERED.toLocaleString("en")} addresses of this cabinet are in order, which is as many as it may have.`
    return new AddressError({ code: "too_many_addresses", message })
  }
  const addresses = filtered
    ? `${MAX_FILTERED_ADDRESSES.toLocaleString("en")} addresses with a filter`
    : `${MAX_ADDRESSES.toLocaleString("en")} addresses`
  const message =
    sourceId === null
      ? `There are ${addresses.replace(" addresses", " addresses of every source")}, which is as many as a source may have: remove one first.`
      : `Source ${sourceId} has ${addresses}, those of every source included, which is as many as it may have: remove one first.`
  return new AddressError({ code: "too_many_addresses", message })
}
