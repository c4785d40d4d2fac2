/** Validates how deliveries are sent to an address, and whether its settings fit one another. */
import { Result } from "effect"
import { type RequestHeader, requestHeaderCheck } from "../network/RequestHeader.ts"
import { AddressError } from "./AddressError.ts"
import { type BodyChoice, type BodyKind, type BodySetting, bodyRefusal, STANDARD_BODY } from "./BodySetting.ts"
import { readIdentity } from "./ClientCertificate.ts"
import { mergeHeaders } from "./HeaderChange.ts"
import type { AddressChange } from "./NewAddress.ts"
import { type Batching, type DeliveryOrder, SENDING_SETTINGS } from "./SendingSettings.ts"

/** The most extra headers of an address. */
export const MAX_HEADERS = 50

/** Reserved: the contract's own headers, those that describe the body, and proxies' headers. */
const checkHeader = requestHeaderCheck({
  names: ["user-agent"],
  prefixes: ["content-", "proxy-", "webhook-", "x-service-"],
})

const refuse = (code: AddressError["code"], message: string) => Result.fail(new AddressError({ code, message }))

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

/** Refuses batches for an address without order. */
export const checkBatch = (order: DeliveryOrder, { max }: Batching): Result.Result<void, AddressError> =>
  order === "feed" || max === 1
    ? Result.succeed(undefined)
    : refuse("bad_batch", "Only an address with the order feed takes batches: set its order to feed, or max to 1.")

/** Refuses the first invalid setting. */
export const checkSettings = (change: AddressChange): Result.Result<void, AddressError> => {
  const refused = SENDING_SETTINGS.refusal(change)
  if (refused !== null) return refuse(refused.code, refused.message)
  const { clientIdentity = null } = change
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

/** Returns the whole body, or refuses one with which no delivery could be written. */
export const checkBody = (choice: BodyChoice): Result.Result<BodySetting, AddressError> => {
  const body = { ...STANDARD_BODY, ...choice }
  const refused = bodyRefusal(body)
  return refused === null ? Result.succeed(body) : refuse("bad_template", refused)
}

/** Which kinds a batch makes sense for. */
const BATCHED: ReadonlySet<BodyKind> = new Set(["standard", "cloudevents", "template"])
/** Chats, forms and binary CloudEvents describe one event. */
const WHY_ALONE = "describes one event: send it without batches, or choose standard, cloudevents or template."

/** Refuses a body that does not fit its address: its URL, and its batches. */
export const checkBodyFits = (
  { kind }: BodySetting,
  url: string,
  { max }: Batching,
): Result.Result<void, AddressError> => {
  if (max > 1 && !BATCHED.has(kind)) return refuse("bad_template", `A body of kind ${kind} ${WHY_ALONE}`)
  if (kind === "telegram" && (new URL(url).searchParams.get("chat_id") ?? "") === "") {
    return refuse("bad_template", "The URL of a body of kind telegram must name the chat: …/sendMessage?chat_id=123.")
  }
  return Result.succeed(undefined)
}
