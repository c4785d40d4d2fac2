/**
 * The delivery addresses that fail, with their last error, for a reader who may see addresses. The words of receivers are
 * data from outside, like those of senders. No query string of an address is shown, even if a receiver repeats it.
 */
import { Effect } from "effect"
import type { Address } from "../delivery/Address.ts"
import { shownAddressUrl } from "../delivery/Address.ts"
import type { Addresses } from "../delivery/Addresses.ts"
import type { Attempt } from "../delivery/Attempt.ts"
import type { Deliveries } from "../delivery/Deliveries.ts"
import { failureReason, type FailureReason, reasonText } from "../delivery/FailureReason.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { maskUrl } from "../network/MaskedUrl.ts"
import { howManyFit, pageText } from "./BoundedItems.ts"
import { type ToolRefusal, toolRefusal } from "./ToolRefusal.ts"

/** How many one result has at most: the log of each is read. */
const ADDRESSES_OF_PAGE = 50
const AT_ONCE = 4
const MAX_SOURCES = 20
const MAX_ERROR_CHARS = 500

/** Where the addresses and the log of their attempts are read. */
export interface AddressReading {
  readonly addresses: Pick<Addresses["Service"], "list">
  readonly deliveries: Pick<Deliveries["Service"], "log">
}

const badCursor = toolRefusal("bad_cursor", "cursor must be the next_cursor of an earlier call.")

/** Shorter values of a query string are no secrets, and occur in any text. */
const LEAST_HIDDEN = 4

/** Replaces the query string of the address, and each of its values, wherever a receiver repeats them. */
const hiding = (url: string) => {
  const { search, searchParams } = new URL(url)
  const sent = search.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1))
  const values = [...sent, ...searchParams.values()]
    .filter(({ length }) => length >= LEAST_HIDDEN)
    .toSorted((one, other) => other.length - one.length)
  const hidden = (text: string): string =>
    values.reduce((shown, value) => shown.replaceAll(value, "…"), text.replaceAll(search, "?…"))
  return (text: string | null): string | null => (text === null || search.length < 2 ? text : hidden(text))
}

const maskedTarget = (reason: FailureReason): FailureReason =>
  reason.code === "redirect" ? { ...reason, target: maskUrl(reason.target) } : reason

const errorOf = ({ url }: Address, { status, failure, responseBody }: Attempt): string => {
  const hidden = hiding(url)
  const reason = failureReason({ status, failure: hidden(failure), responseBody: hidden(responseBody) })
  return reason === null ? "" : reasonText(maskedTarget(reason)).slice(0, MAX_ERROR_CHARS)
}

const sourcesOf = ({ sources }: Address) => {
  if (sources === "all" || sources.length <= MAX_SOURCES) return { sources }
  return { sources: sources.slice(0, MAX_SOURCES), more_sources: sources.length - MAX_SOURCES }
}

const failingJson = (address: Address, last: Attempt | undefined): string =>
  JSON.stringify({
    id: address.id,
    url: shownAddressUrl(address, null),
    ...sourcesOf(address),
    agent: address.subscription?.agent ?? null,
    failing_since: address.failingSince,
    paused_at: address.pausedAt,
    paused_because: address.pausedBecause,
    last_error:
      last === undefined
        ? null
        : {
            at: last.at,
            event_id: last.eventId,
            attempt: last.number,
            status: last.status,
            error: errorOf(address, last),
            next_attempt_at: address.pausedAt === null ? (address.position?.retryAt ?? last.nextAt) : null,
          },
  })

/** A page of them as JSON text, by id. */
export const failingAddresses = Effect.fnUntraced(function* (
  { addresses, deliveries }: AddressReading,
  cursor: string | undefined,
): Effect.fn.Return<string, StoreUnavailable | ToolRefusal> {
  if (cursor !== undefined && !/^[1-9]\d{0,14}$/.test(cursor)) return yield* Effect.fail(badCursor)
  const found = yield* addresses.list({ after: Number(cursor ?? 0), limit: ADDRESSES_OF_PAGE + 1, failing: true })
  const page = found.slice(0, ADDRESSES_OF_PAGE)
  const lastFailed = ({ id }: Address) =>
    deliveries.log({ addressId: id, limit: 1, failedOnly: true }).pipe(
      // It was removed meanwhile.
      Effect.catchTag("AddressError", () => Effect.succeed<ReadonlyArray<Attempt>>([])),
    )
  const texts = yield* Effect.forEach(
    page,
    (address) => Effect.map(lastFailed(address), ([last]) => failingJson(address, last)),
    { concurrency: AT_ONCE },
  )
  const count = howManyFit(texts)
  const hasMore = count < found.length
  const nextCursor = hasMore ? String(page[count - 1]!.id) : null
  return pageText({ texts: texts.slice(0, count), hasMore, nextCursor })
})
