/** The operations of a cabinet's owner on polls. URL and settings are checked before they are saved. */
import { Context, Effect, Layer, Option, Result } from "effect"
import type { AddressError } from "../delivery/AddressError.ts"
import { AddressCheck, unfitAddress } from "../delivery/AddressCheck.ts"
import { parseAddressUrl } from "../delivery/AddressUrl.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { isPointer } from "../file/JsonReader.ts"
import { type NewPoll, type Poll, POLL_FORMATS, type PollChange, type PollRun } from "./Poll.ts"
import { PollStore } from "./PollStore.ts"
import { type PollError, pollError } from "./PollError.ts"
import { isInterval } from "./PollSchedule.ts"
import { RunPoll } from "./RunPoll.ts"

type Returns<A> = Effect.Effect<A, PollError | StoreUnavailable>

export class Polls extends Context.Service<
  Polls,
  {
    readonly add: (poll: NewPoll) => Returns<Poll>
    /** By id; without removed polls and those of deleted sources. */
    readonly list: Effect.Effect<ReadonlyArray<Poll>, StoreUnavailable>
    readonly get: (id: number) => Returns<Poll>
    /**
     * Its headers stay with the origin that they were given for: a URL of another one needs them again, or an empty list. If
     * the URL (but for its query), the pointer or the key changes, the items of the next run are history.
     */
    readonly change: (id: number, change: PollChange) => Returns<Poll>
    readonly pause: (id: number) => Returns<Poll>
    /** Makes the poll due immediately. */
    readonly resume: (id: number) => Returns<Poll>
    /** Removes the poll for good: its headers and marks are deleted, its log is kept for its retention period. */
    readonly remove: (id: number) => Returns<void>
    /** Its runs, newest first. */
    readonly log: (id: number, limit: number) => Returns<ReadonlyArray<PollRun>>
    /** Runs the poll now, in this process, even if it is paused, and waits until the new items are accepted. */
    readonly run: (id: number) => Returns<PollRun>
  }
>()("@data-cabinet/core/poll/Polls") {
  static readonly layer = Layer.effect(
    Polls,
    Effect.gen(function* () {
      const store = yield* PollStore
      const check = yield* AddressCheck
      const { run } = yield* RunPoll
      const get = (id: number) =>
        existing(
          id,
          Effect.map(store.list, (all) => Option.fromUndefinedOr(all.find((poll) => poll.id === id))),
        )
      return Polls.of({
        add: Effect.fnUntraced(function* (poll) {
          const url = yield* Effect.fromResult(Result.mapError(parseAddressUrl(poll.url), asPollError))
          yield* checkPoll(poll)
          yield* Effect.mapError(check.check(url), (unfit) => asPollError(unfitAddress(unfit)))
          const added = yield* store.add({ ...poll, url: url.href })
          if (Option.isSome(added)) return added.value
          return yield* pollError("no_such_source", `There is no source ${poll.sourceId}.`)
        }),
        list: store.list,
        get,
        change: Effect.fnUntraced(function* (id, change) {
          const was = yield* get(id)
          const url = yield* Effect.fromResult(Result.mapError(parseAddressUrl(change.url ?? was.url), asPollError))
          const { everySeconds, format, pointer, keyField } = { ...was, ...change }
          const headers = change.headers ?? null
          const settings = { url: url.href, everySeconds, format, pointer, keyField, headers }
          yield* checkPoll({ ...settings, sourceId: was.sourceId, headers: headers ?? [] })
          if (headers === null && was.headerNames.length > 0 && url.origin !== new URL(was.url).origin) {
            return yield* pollError("headers_needed", headersNeeded(was))
          }
          if (url.href !== was.url) {
            yield* Effect.mapError(check.check(url), (unfit) => asPollError(unfitAddress(unfit)))
          }
          const changed = yield* store.change(id, was.url, { ...settings, first: hasOtherItems(was, settings) })
          if (Option.isSome(changed)) return changed.value
          yield* get(id)
          return yield* pollError(
            "busy",
            `Poll ${id} was changed by somebody else in the meantime: load it again, and repeat the change.`,
          )
        }),
        pause: (id) => existing(id, store.pause(id)),
        resume: (id) => existing(id, store.resume(id)),
        remove: (id) => Effect.flatMap(store.remove(id), ({ existed }) => (existed ? Effect.void : noSuchPoll(id))),
        log: (id, limit) => existing(id, store.log(id, limit)),
        run: Effect.fnUntraced(function* (id) {
          const claimed = yield* store.claim(id)
          if (Option.isNone(claimed)) {
            yield* existing(id, store.log(id, 1))
            return yield* pollError("busy", `Poll ${id} is running right now, or its source is switched off.`)
          }
          const settled = yield* run(claimed.value)
          if (Option.isNone(settled))
            return yield* pollError("no_such_poll", `Poll ${id} has been removed or changed in the meantime.`)
          return settled.value
        }),
      })
    }),
  )
}

const headersNeeded = ({ url, headerNames }: Poll): string =>
  `The headers ${headerNames.join(", ")} were given for ${new URL(url).origin}: send them again for another origin, or an empty list to send none.`

/** Whether items that were seen may look new, so that what comes first is no news. A query often holds no more than a token. */
const hasOtherItems = (was: Poll, now: Pick<Poll, "url" | "pointer" | "keyField">): boolean => {
  const place = (url: string) => url.split("?", 1)[0]
  return place(was.url) !== place(now.url) || was.pointer !== now.pointer || was.keyField !== now.keyField
}

const noSuchPoll = (id: number) => Effect.fail(pollError("no_such_poll", `There is no poll ${id}.`))

const existing = <A>(id: number, found: Effect.Effect<Option.Option<A>, StoreUnavailable>): Returns<A> =>
  Effect.flatMap(found, (one) => (Option.isSome(one) ? Effect.succeed(one.value) : noSuchPoll(id)))

const asPollError = (error: AddressError): PollError =>
  pollError(error.code === "not_public" || error.code === "name_not_found" ? error.code : "bad_url", error.message)

/** Headers that the HTTP client sets itself, or that could make the response something other than what was requested. */
const OWN_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "if-modified-since",
  "if-none-match",
  "keep-alive",
  "proxy-connection",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

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
  for (const [name, value] of poll.headers ?? []) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) || OWN_HEADERS.has(name.toLowerCase())) {
      return yield* pollError("bad_header", `${name.slice(0, 100)} is not a header that can be set.`)
    }
    // The value is a secret, so no message contains it.
    if (value.length > 4096 || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return yield* pollError("bad_header", `The value of the header ${name} cannot be sent.`)
    }
  }
})
