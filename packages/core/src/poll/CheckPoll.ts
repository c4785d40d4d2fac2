/** The rules for polls: URL, settings, and where headers may go. */
import { Effect, Option, Result } from "effect"
import { type AddressCheck, unfitAddress } from "../delivery/AddressCheck.ts"
import type { AddressError } from "../delivery/AddressError.ts"
import { parseAddressUrl } from "../delivery/AddressUrl.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { isPointer } from "../file/PointedReader.ts"
import { requestHeaderCheck } from "../network/RequestHeader.ts"
import { type NewPoll, type Poll, POLL_FORMATS, type PollChange } from "./Poll.ts"
import { isInterval } from "./PollSchedule.ts"
import type { ChangedPoll } from "./PollStore.ts"
import { type PollError, pollError } from "./PollError.ts"

type Find = (id: number) => Effect.Effect<Poll, PollError | StoreUnavailable>

/** The checks of a poll's settings. */
export const pollChecks = (check: AddressCheck["Service"], find: Find) => {
  const urlOf = (text: string) => Effect.fromResult(Result.mapError(parseAddressUrl(text), asPollError))
  const checkAddress = (url: URL) => Effect.mapError(check.check(url), (unfit) => asPollError(unfitAddress(unfit)))
  return {
    /** A new poll, with its URL in the form in which it is requested. */
    checked: Effect.fnUntraced(function* (poll: NewPoll) {
      const url = yield* urlOf(poll.url)
      yield* checkPoll(poll)
      yield* checkAddress(url)
      return { ...poll, url: url.href }
    }),
    /** The poll before a change, and all its settings after it. */
    changed: Effect.fnUntraced(function* (id: number, change: PollChange) {
      const was = yield* find(id)
      const url = yield* urlOf(change.url ?? was.url)
      const { everySeconds, format, pointer, keyField } = { ...was, ...change }
      const headers = change.headers ?? null
      const settings = { url: url.href, everySeconds, format, pointer, keyField, headers }
      yield* checkPoll({ ...settings, sourceId: was.sourceId, headers: headers ?? [] })
      if (headers === null && was.headerNames.length > 0 && url.origin !== new URL(was.url).origin) {
        return yield* pollError("headers_needed", headersNeeded(was))
      }
      if (url.href !== was.url) yield* checkAddress(url)
      return { was, settings: { ...settings, first: hasOtherItems(was, settings) } satisfies ChangedPoll }
    }),
  }
}

const headersNeeded = ({ url, headerNames }: Poll): string =>
  `The headers ${headerNames.join(", ")} were given for ${new URL(url).origin}: send them again for another origin, or an empty list to send none.`

/**
 * Whether known items may look new, so that the next run must count as history. A query string often holds only a
 * token.
 */
const hasOtherItems = (was: Poll, now: Pick<Poll, "url" | "pointer" | "keyField">): boolean => {
  const place = (url: string) => url.split("?", 1)[0]
  return place(was.url) !== place(now.url) || was.pointer !== now.pointer || was.keyField !== now.keyField
}

const asPollError = (error: AddressError): PollError =>
  pollError(error.code === "not_public" || error.code === "name_not_found" ? error.code : "bad_url", error.message)

/** These could make the server respond with something other than the requested document. */
const checkHeader = requestHeaderCheck({ names: ["if-modified-since", "if-none-match", "range"], prefixes: [] })

const checkPoll = Effect.fnUntraced(function* (poll: NewPoll) {
  if (!isInterval(poll.everySeconds)) {
    return yield* pollError(
      "bad_interval",
      "The interval must be from 10 seconds to 30 days, such as 30s, 15m, 2h or 1d.",
    )
  }
  if (poll.format != null && !POLL_FORMATS.includes(poll.format)) {
    return yield* pollError("bad_format", `The format must be one of ${POLL_FORMATS.join(", ")}.`)
  }
  const pointer = poll.pointer ?? ""
  if (!isPointer(pointer))
    return yield* pollError("bad_pointer", "A pointer must be empty or begin with a slash, such as /data/items.")
  if (pointer !== "" && poll.format != null && poll.format !== "json") {
    return yield* pollError("bad_pointer", "A pointer is only supported for JSON.")
  }
  const key = poll.keyField ?? null
  if (key === "" || (key?.startsWith("/") === true && !isPointer(key))) {
    return yield* pollError("bad_key", "The key must be a field name or a pointer, such as id or /meta/id.")
  }
  for (const header of poll.headers ?? []) {
    const refused = Result.getFailure(checkHeader(header))
    if (Option.isSome(refused)) return yield* pollError("bad_header", refused.value)
  }
})
