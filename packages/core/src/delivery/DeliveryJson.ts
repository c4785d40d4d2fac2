/** Delivery addresses, deliveries and attempts as JSON documents. */
import type { PingResult } from "./Addresses.ts"
import type { Address } from "./Address.ts"
import type { Attempt, Delivery } from "./Attempt.ts"
import type { ClientCertificate } from "./ClientCertificate.ts"
import type { FilterTest } from "./TestFilter.ts"

const certificateJson = ({ subject, issuer, fingerprint, endsAt }: ClientCertificate) => ({
  subject,
  issuer,
  fingerprint,
  ends_at: endsAt,
})

/** Includes the secrets only if the owner requested this one address. */
export const addressJson = (address: Address, withSecrets: boolean) => ({
  id: address.id,
  url: address.url,
  ...(withSecrets ? { secret: address.secret } : {}),
  sources: address.sources,
  filters: address.filters,
  filtered_events: address.filteredEvents,
  header_names: address.headerNames,
  client_certificate: address.clientCertificate === null ? null : certificateJson(address.clientCertificate),
  rate: address.rate,
  timeout_seconds: address.timeoutSeconds,
  give_up_after_seconds: address.giveUpAfterSeconds,
  pause_on_gone: address.pauseOnGone,
  ...(withSecrets ? { previous_secret: address.previousSecret } : {}),
  created_at: address.createdAt,
  paused_at: address.pausedAt,
  paused_because: address.pausedBecause,
  failing_since: address.failingSince,
})

export const deliveryJson = (delivery: Delivery) => ({
  id: delivery.id,
  type: delivery.type,
  address_id: delivery.addressId,
  event_id: delivery.eventId,
  state: delivery.state,
  attempts: delivery.attempts,
  created_at: delivery.createdAt,
  due_at: delivery.dueAt,
})

/** An attempt as JSON. */
export const attemptJson = (attempt: Attempt) => ({
  delivery_id: attempt.deliveryId,
  type: attempt.type,
  event_id: attempt.eventId,
  address_id: attempt.addressId,
  number: attempt.number,
  at: attempt.at,
  delivered: attempt.delivered,
  status: attempt.status,
  failure: attempt.failure,
  peer: attempt.peer,
  duration_ms: attempt.durationMs,
  response_body: attempt.responseBody,
  next_at: attempt.nextAt,
})

/** The result of a ping as JSON. */
export const pingJson = (result: PingResult) => ({
  delivery_id: result.deliveryId,
  delivered: result.delivered,
  status: result.status,
  failure: result.failure,
  peer: result.peer,
  duration_ms: result.durationMs,
  response_body: result.responseBody,
})

/** The result of a filter's test as JSON. */
export const filterTestJson = (test: FilterTest) => ({
  address_id: test.addressId,
  event_id: test.eventId,
  passes: test.passes,
  reasons: test.reasons,
  conditions: test.conditions.map(({ fc, fo, fv, holds, value }) => ({ fc, fo, fv, holds, value })),
  delivery_id: test.deliveryId,
})

/** With its attempts, newest first. */
export const deliveryWithLogJson = (delivery: Delivery, attempts: ReadonlyArray<Attempt>) => ({
  ...deliveryJson(delivery),
  log: attempts.map(attemptJson),
})
