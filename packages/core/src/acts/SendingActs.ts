/** What the audit log says of deliveries, destinations and polls. URLs are logged without their secrets, and headers by name. */
import type { Addresses } from "../delivery/Addresses.ts"
import { certificateIn } from "../delivery/ClientCertificate.ts"
import type { Deliveries } from "../delivery/Deliveries.ts"
import type { DeliveryFilter } from "../delivery/DeliveryQueue.ts"
import type { Destinations } from "../destination/Destinations.ts"
import type { PollChange } from "../poll/Poll.ts"
import type { Polls } from "../poll/Polls.ts"
import type { Act } from "../audit/Managed.ts"
import { type Acts, maskedUrl, act, making } from "./Acts.ts"
import type { AddressChange } from "../delivery/NewAddress.ts"

const addressChanges = (made: AddressChange): Act["changes"] => {
  const { headers, setHeaders, removeHeaders, clientIdentity, ...change } = made
  return {
    ...maskedUrl({ ...change }),
    ...(clientIdentity === undefined
      ? {}
      : { client_certificate: certificateIn(clientIdentity?.certificate ?? "")?.fingerprint ?? null }),
    ...(headers === undefined ? {} : { header_names: headers.map(([name]) => name) }),
    ...(setHeaders === undefined ? {} : { set_header_names: setHeaders.map(([name]) => name) }),
    ...(removeHeaders === undefined ? {} : { removed_header_names: removeHeaders }),
  }
}

/** An entry for each method of `Addresses`. */
export const ADDRESSES: Acts<Addresses["Service"]> = {
  create: (address) => making("address.create", "address", addressChanges(address)),
  list: null,
  get: null,
  reveal: (id) => act("address.reveal", `address ${id}`),
  set: (id, change) => act("address.change", `address ${id}`, addressChanges(change)),
  remove: (id) => act("address.remove", `address ${id}`),
  pause: (id) => act("address.pause", `address ${id}`),
  resume: (id) => act("address.resume", `address ${id}`),
  rotateSecret: (id) => act("address.rotate_secret", `address ${id}`),
  ping: (id) => act("address.ping", `address ${id}`),
  preview: null,
  skip: (id, { eventId, reason }) => act("address.skip", `address ${id}`, { event_id: eventId, reason }),
  test: null,
}

/** The parts of a filter that narrow it. */
const chosen = (filter: DeliveryFilter) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== false))

/** An entry for each method of `Deliveries`. */
export const DELIVERIES: Acts<Deliveries["Service"]> = {
  find: null,
  ofEvent: null,
  log: null,
  resend: (id) => act("delivery.resend", `delivery ${id}`),
  resendRange: ({ addressId, ...range }) => act("address.resend", `address ${addressId}`, range),
  countRange: null,
  resendListed: (filter) => act("delivery.resend", null, chosen(filter)),
  countListed: null,
  list: null,
  attemptsOf: null,
  requestOf: null,
  cancel: (id) => act("delivery.cancel", `delivery ${id}`),
}

/** An entry for each method of `Destinations`. */
export const DESTINATIONS: Acts<Destinations["Service"]> = {
  add: (made) => {
    const { credentials: _, ...destination } = made
    return making("destination.add", "destination", { ...destination })
  },
  list: null,
  get: null,
  change: (id, { credentials, ...change }) =>
    act("destination.change", `destination ${id}`, {
      ...change,
      ...(credentials === undefined ? {} : { new_credentials: true }),
    }),
  restart: (id) => act("destination.restart", `destination ${id}`),
  pause: (id) => act("destination.pause", `destination ${id}`),
  resume: (id) => act("destination.resume", `destination ${id}`),
  remove: (id) => act("destination.remove", `destination ${id}`),
}

const pollChanges = ({ headers, url, ...change }: PollChange): Act["changes"] => ({
  ...(url === undefined ? {} : maskedUrl({ url })),
  ...change,
  ...(headers === undefined ? {} : { header_names: headers.map(([name]) => name) }),
})

/** An entry for each method of `Polls`. */
export const POLLS: Acts<Polls["Service"]> = {
  add: ({ headers = [], ...poll }) =>
    making("poll.add", "poll", { ...maskedUrl(poll), header_names: headers.map(([name]) => name) }),
  list: null,
  get: null,
  change: (id, change) => act("poll.change", `poll ${id}`, pollChanges(change)),
  pause: (id) => act("poll.pause", `poll ${id}`),
  resume: (id) => act("poll.resume", `poll ${id}`),
  remove: (id) => act("poll.remove", `poll ${id}`),
  log: null,
  run: (id) => act("poll.run", `poll ${id}`),
  tryAdd: ({ headers = [], ...poll }) =>
    act("poll.try", `source ${poll.sourceId}`, { ...maskedUrl(poll), header_names: headers.map(([name]) => name) }),
  tryChange: (id, change) => act("poll.try", `poll ${id}`, pollChanges(change)),
}
