/** The rules for polls: URL, settings, and where headers may go. */
import { Effect, Option, Result } from "effect"
import { type AddressCheck, unfitAddress } from "../delivery/AddressCheck.ts"
import type { AddressError } from "../delivery/AddressError.ts"
import { parseAddressUrl } from "../delivery/AddressUrl.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { requestHeaderCheck } from "../network/RequestHeader.ts"
import type { NewPoll, Poll, PollChange } from "./Poll.ts"
import type { ChangedPoll, StoredPoll } from "./PollStore.ts"
import { type PollError, pollError } from "./PollError.ts"
import { POLL_SETTINGS, type PollSettings } from "./PollSettings.ts"

type Find = (id: number) => Effect.Effect<Poll, PollError | StoreUnavailable>

/** The checks of a poll's settings. */
export const pollChecks = (check: AddressCheck["Service"], find: Find) => {
  const urlOf = (text: string) => Effect.fromResult(Result.mapError(parseAddressUrl(text), asPollError))
  const checkAddress = (url: URL) => Effect.mapError(check.check(url), (unfit) => asPollError(unfitAddress(unfit)))
  return {
    /** A new poll, with its URL in the form in which it is requested. */
    checked: Effect.fnUntraced(function* (poll: NewPoll) {
      const url = yield* urlOf(poll.url)
      const { sourceId, headers = [] } = poll
      const settings = settingsAfter(POLL_SETTINGS.defaults, poll)
      yield* checkPoll(settings, headers)
      yield* checkAddress(url)
      return { ...settings, sourceId, headers, url: url.href } satisfies StoredPoll
    }),
    /** The poll before a change, and all its settings after it. */
    changed: Effect.fnUntraced(function* (id: number, change: PollChange) {
      const was = yield* find(id)
      const url = yield* urlOf(change.url ?? was.url)
      const headers = change.headers ?? null
      const settings = { ...settingsAfter(was, change), url: url.href, headers }
      yield* checkPoll(settings, headers ?? [])
      if (headers === null && was.headerNames.length > 0 && url.origin !== new URL(was.url).origin) {
        return yield* pollError("headers_needed", headersNeeded(was))
      }
      if (url.href !== was.url) yield* checkAddress(url)
      return { was, settings: { ...settings, first: hasOtherItems(was, settings) } satisfies ChangedPoll }
    }),
  }
}

/** The settings with those that the change gives. */
const settingsAfter = (was: PollSettings, change: PollChange): PollSettings => {
  const given = POLL_SETTINGS.all.map(({ key }) => [key, change[key] === undefined ? was[key] : change[key]])
  return Object.fromEntries(given)
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

const checkPoll = Effect.fnUntraced(function* (settings: PollSettings, headers: NonNullable<PollChange["headers"]>) {
  const refused = POLL_SETTINGS.refusal(settings)
  if (refused !== null) return yield* pollError(refused.code, refused.message)
  const { pointer, format } = settings
  if (pointer !== "" && format !== null && format !== "json") {
    return yield* pollError("bad_pointer", "A pointer is only supported for JSON.")
  }
  for (const header of headers) {
    const refusal = Result.getFailure(checkHeader(header))
    if (Option.isSome(refusal)) return yield* pollError("bad_header", refusal.value)
  }
})
