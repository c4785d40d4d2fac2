/** Validates how deliveries are sent to an address: headers, rate, time limit, and when to give up. */
import { Result } from "effect"
import { type RequestHeader, requestHeaderCheck } from "../network/RequestHeader.ts"
import type { Batching, DeliveryOrder } from "./Address.ts"
import { AddressError } from "./AddressError.ts"
import { readIdentity } from "./ClientCertificate.ts"
import { mergeHeaders } from "./HeaderChange.ts"
import type { AddressChange } from "./NewAddress.ts"
import { SENDING_SETTINGS } from "./SendingSettings.ts"

/** The most events of one request. */
export const MAX_BATCH = 100
/** The longest wait for a batch. */
export const MAX_BATCH_WAIT_SECONDS = 60
/** The most extra headers of an address. */
export const MAX_HEADERS = 50

/** Reserved: the contract's own headers, those that describe the body, and proxies' headers. */
const checkHeader = requestHeaderCheck({
  names: ["user-agent"],
  prefixes: ["content-", "proxy-", "webhook-", "x-service-"],
})

const refuse = (code: AddressError["code"], message: string) => Result.fail(new AddressError({ code, message }))

const isWhole = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max

const checkCount = (count: number): Result.Result<void, AddressError> =>
  count > MAX_HEADERS
    ? refuse("bad_header", `An address may have at most ${MAX_HEADERS} headers.`)
    : Result.succeed(undefined)

/** Accepts either all headers or changes of single ones; each name may occur once. */
const checkHeaderChange = ({
  headers,
  setHeaders,
  removeHeaders,
}: AddressChange): Result.Result<void, AddressError> => {
  if (headers !== undefined && (setHeaders !== undefined || removeHeaders !== undefined)) {
    return refuse("bad_header", "Either all headers are given, or single ones are set and removed, not both.")
  }
  if ((removeHeaders ?? []).length > MAX_HEADERS) {
    return refuse("bad_header", `At most ${MAX_HEADERS} headers can be removed at once.`)
  }
  const removed = new Set((removeHeaders ?? []).map((name) => name.toLowerCase()))
  const both = (setHeaders ?? []).find(([name]) => removed.has(name.toLowerCase()))
  if (both !== undefined) return refuse("bad_header", `The header ${both[0].slice(0, 100)} is both set and removed.`)
  return checkHeaders(headers ?? setHeaders ?? [])
}

const checkHeaders = (headers: ReadonlyArray<RequestHeader>): Result.Result<void, AddressError> => {
  const counted = checkCount(headers.length)
  if (Result.isFailure(counted)) return counted
  const names = new Set<string>()
  for (const header of headers) {
    const checked = checkHeader(header)
    if (Result.isFailure(checked)) return refuse("bad_header", checked.failure)
    const [name] = header
    if (names.has(name.toLowerCase())) return refuse("bad_header", `The header ${name} is given twice.`)
    names.add(name.toLowerCase())
  }
  return Result.succeed(undefined)
}

const isBatch = ({ max, wait }: Batching): boolean =>
  isWhole(max, MAX_BATCH) && Number.isInteger(wait) && wait >= 0 && wait <= MAX_BATCH_WAIT_SECONDS

/** Refuses batches for an address without order. */
export const checkBatch = (order: DeliveryOrder, { max }: Batching): Result.Result<void, AddressError> =>
  order === "feed" || max === 1
    ? Result.succeed(undefined)
    : refuse("bad_batch", "Only an address with the order feed takes batches: set its order to feed, or max to 1.")

/** Refuses the first invalid setting. */
export const checkSettings = (change: AddressChange): Result.Result<void, AddressError> => {
  const refused = SENDING_SETTINGS.refusal(change)
  if (refused !== null) return refuse(refused.code, refused.message)
  const { batch, clientIdentity = null } = change
  if (batch !== undefined && !isBatch(batch)) {
    return refuse(
      "bad_batch",
      `A batch must have a max from 1 to ${MAX_BATCH} events, and a wait of 0 to ${MAX_BATCH_WAIT_SECONDS} whole seconds.`,
    )
  }
  const headers = checkHeaderChange(change)
  if (Result.isFailure(headers) || clientIdentity === null) return headers
  return Result.map(readIdentity(clientIdentity), () => undefined)
}

/** Checks that changes of single headers leave an address that has these headers with no more than the limit. */
export const checkHeaderCount = (
  headerNames: ReadonlyArray<string>,
  { setHeaders = [], removeHeaders }: AddressChange,
): Result.Result<void, AddressError> => {
  const named = (name: string) => [name, null] as const
  const set = setHeaders.map(([name]) => named(name))
  return checkCount(mergeHeaders(headerNames.map(named), set, removeHeaders).length)
}
