/** The error for refused operations on delivery addresses and deliveries. */
import { Schema } from "effect"
import { noSuchEvent } from "../error/NoSuchEvent.ts"
import { SECRET_SETTINGS } from "./ClientIdentity.ts"
import { SENDING_SETTINGS } from "./SendingSettings.ts"

/**
 * `bad_url`: not a valid delivery address. `not_public`: it leads to an address that is not public; the message names
 * the address and the network. `name_not_found`: the host name has no address, or its name server did not respond.
 * `bad_filter`, `bad_fo`, `bad_fv`: a condition of a filter is invalid; the message says which. `bad_header`,
 * `bad_rate`, `bad_timeout`, `bad_give_up`, `bad_batch`, `bad_template`: an invalid setting; no message has a header's value. `bad_certificate`,
 * `bad_client_key`: its client certificate or key cannot be used; the message says why, without any part of the key.
 * `headers_needed`, `certificate_needed`: its headers, or its client certificate, would go to another origin. `busy`:
 * another caller changed the address meanwhile. `too_many_addresses`: a source would have more than `MAX_ADDRESSES`.
 * `of_agent`: an agent's subscription, which its agent alone changes.
 * `not_resent`: the delivery cannot be sent again; `not_skipped`: the event is not skipped. The message says why.
 */
export class AddressError extends Schema.TaggedError<AddressError>()("AddressError", {
  code: Schema.Literals([
    "bad_url",
    "not_public",
    "name_not_found",
    "bad_range",
    "bad_filter",
    "bad_fo",
    "bad_fv",
    "bad_header",
    ...SENDING_SETTINGS.errors.map(({ code }) => code),
    ...SECRET_SETTINGS.errors.map(({ code }) => code),
    "headers_needed",
    "certificate_needed",
    "busy",
    "too_many_addresses",
    "of_agent",
    "no_such_address",
    "no_such_source",
    "no_such_event",
    "no_such_delivery",
    "not_resent",
    "not_skipped",
  ]),
  message: Schema.String,
}) {}

/** For an event that does not exist. */
export const missingEvent = (id: number): AddressError =>
  new AddressError({ code: "no_such_event", message: noSuchEvent(id) })
