/**
 * The headers of a delivery's request, and the request of a stored delivery, which is rendered again because only the
 * event is kept.
 */
import { Effect } from "effect"
import type { RequestHeader } from "../network/RequestHeader.ts"
import type { Address } from "./Address.ts"
import { NO_BATCHES } from "./SendingSettings.ts"
import type { SampleEvent } from "./AddressStore.ts"
import type { Delivery } from "./Attempt.ts"
import { USER_AGENT } from "./Courier.ts"
import { type Letter, writeLetter } from "./Letter.ts"
import { signDelivery, standardHeaders } from "./Signature.ts"

/** The address's own headers, except those that describe the body. */
const ownHeaders = (headers: ReadonlyArray<RequestHeader>, described: Letter["headers"]) => {
  const names = new Set(Object.keys(described).map((name) => name.toLowerCase()))
  return Object.fromEntries(headers.filter(([name]) => !names.has(name.toLowerCase())))
}

/** All headers of a request. `seconds`: the time of its signature. */
export const requestHeaders = (
  { id, type, headers: described, body }: Letter,
  own: ReadonlyArray<RequestHeader>,
  secrets: ReadonlyArray<string>,
  seconds: number,
): Readonly<Record<string, string>> => ({
  ...(own.length === 0 ? {} : ownHeaders(own, described)),
  ...described,
  "User-Agent": USER_AGENT,
  "X-Service-Event": type,
  "X-Service-Delivery": String(id),
  "X-Service-Signature": signDelivery(body, secrets, seconds),
  ...standardHeaders(id, body, secrets, seconds),
})

/** A request as it would be sent to the address now. Of the address's own headers only the names are known. */
export interface SignedRequest {
  readonly method: Letter["method"]
  readonly url: string
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string | null }>
  /** As text. */
  readonly body: string
}

/** Fails with a message if its template does. */
export const signedRequest = Effect.fnUntraced(function* (
  { id, type, createdAt }: Pick<Delivery, "id" | "type" | "createdAt">,
  { url, body, secret, previousSecret, headerNames, order, batch }: Address,
  event: SampleEvent["event"] | null,
  millis: number,
) {
  const isBatch = order === "feed" && batch.max > NO_BATCHES.max
  const letter = writeLetter({ url, body }, { items: [{ id, type, createdAt, event }], isBatch })
  const written = Effect.isEffect(letter) ? yield* letter : letter
  const secrets = previousSecret !== null && Date.parse(previousSecret.until) > millis ? [previousSecret.secret] : []
  const own = headerNames.map((name): RequestHeader => [name, ""])
  const headers = requestHeaders(written, own, [secret, ...secrets], Math.floor(millis / 1000))
  const names = new Set(headerNames)
  const request: SignedRequest = {
    method: written.method,
    url,
    headers: Object.entries(headers).map(([name, value]) => ({
      name,
      value: names.has(name) && value === "" ? null : value,
    })),
    body: Buffer.from(written.body).toString(),
  }
  return request
})
