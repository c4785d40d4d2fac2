/**
 * `cabinet event list`: the feed in the API's form: the newest events, those from a position on, or all as they arrive.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Feed } from "@data-cabinet/core/feed/Feed"
import type { FeedError } from "@data-cabinet/core/feed/FeedError"
import type { FeedStart } from "@data-cabinet/core/feed/FeedTailStore"
import { FollowFeed, USUAL_WAIT_MILLIS } from "@data-cabinet/core/feed/FollowFeed"
import { MAX_LIMIT, parseLimit } from "@data-cabinet/core/pagination/Page"
import { Effect, Option, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, printLine, printValue, report } from "../output/Report.ts"
import { styleFor } from "../output/Style.ts"
import { staysUntilSignal } from "../process/Signals.ts"
import { CommandError } from "../error/CommandError.ts"
import { sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"
import { sinceOf } from "./Times.ts"

/** How often it retries while the database is unavailable. */
const RETRY_INTERVAL = "2 seconds"

interface ShownEvent {
  readonly id: number
  readonly source: { readonly id: number; readonly name: string }
  readonly channel: string
  readonly received_at: string
  readonly repeat_of: number | null
  readonly history: boolean
  readonly deleted_at: string | null
  readonly spam?: boolean
}

/** How many are shown by default. */
const NEWEST = 20

const startFlags = {
  cursor: Flag.String("cursor").pipe(
    Flag.withMetavar("CURSOR"),
    Flag.withDescription("Continue from a previous next_cursor"),
    Flag.optional,
  ),
  all: Flag.Boolean("all").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Start from the first event; the default with --follow"),
    Flag.withDefault(false),
  ),
  tail: Flag.String("tail").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`The newest N events, 1 to ${MAX_LIMIT}; default without --follow: ${NEWEST}`),
    Flag.filterMap(
      (text) => Option.fromNullishOr(parseLimit(text)),
      (text) => `--tail is ${JSON.stringify(text)}: it must be a number from 1 to ${MAX_LIMIT}`,
    ),
    Flag.optional,
  ),
  since: Flag.String("since").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(
      "Only events received since a time such as 2026-11-21T09:30:00Z, or in the last 30m, 12h or 7d",
    ),
    Flag.filterMap(
      (text) => Option.fromNullishOr(sinceOf(text)),
      (text) =>
        `--since is ${JSON.stringify(text)}: it must be a time such as 2026-11-21T09:30:00Z, or a duration such as 30m, 12h or 7d`,
    ),
    Flag.optional,
  ),
  fromNow: Flag.Boolean("from-now").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Only events received from now on"),
    Flag.withDefault(false),
  ),
}

interface StartInput {
  readonly cursor: Option.Option<string>
  readonly all: boolean
  readonly tail: Option.Option<number>
  readonly since: Option.Option<string>
  readonly fromNow: boolean
  readonly limit: Option.Option<string>
}

type Start = FeedStart | "beginning" | { readonly cursor: string }

/** Without a flag the newest are shown, as many as a page is said to have. */
const startOf = (input: StartInput, follows: boolean): Effect.Effect<Start, CommandError> => {
  const given: ReadonlyArray<Start> = [
    ...Option.toArray(Option.map(input.cursor, (cursor) => ({ cursor }))),
    ...(input.all ? ["beginning" as const] : []),
    ...Option.toArray(Option.map(input.tail, (last) => ({ last }))),
    ...Option.toArray(Option.map(input.since, (time) => ({ time }))),
    ...(input.fromNow ? ["now" as const] : []),
  ]
  const [one, other] = given
  if (other !== undefined) {
    const message = "Only one of --cursor, --all, --tail, --since and --from-now may be given."
    return Effect.fail(new CommandError({ code: "usage", message }))
  }
  const newest = Option.getOrUndefined(Option.map(input.limit, parseLimit)) ?? NEWEST
  return Effect.succeed(one ?? (follows ? "beginning" : { last: newest }))
}

interface Begun {
  readonly cursor: Option.Option<string>
  /** The page's size, if the start decides it. */
  readonly limit: Option.Option<number>
}

const beginIn =
  (feed: Feed["Service"]) =>
  (filter: Pairs, start: Start): Effect.Effect<Begun, FeedError | StoreUnavailable> => {
    if (start === "beginning") return Effect.succeed({ cursor: Option.none(), limit: Option.none() })
    if (typeof start === "object" && "cursor" in start) {
      return Effect.succeed({ cursor: Option.some(start.cursor), limit: Option.none() })
    }
    const isWhole = typeof start === "object" && "last" in start && !filter.some(([name]) => name === "limit")
    return Effect.map(feed.start(filter, start), (cursor) => ({
      cursor: Option.some(cursor),
      limit: isWhole ? Option.some(start.last) : Option.none(),
    }))
  }

const HEAD = ["ID", "RECEIVED", "SOURCE", "CHANNEL", "", "PAYLOAD"]

const marks = (event: ShownEvent): string =>
  [
    event.repeat_of === null ? "" : `repeats ${event.repeat_of}`,
    event.history ? "history" : "",
    event.spam === true ? "spam" : "",
    event.deleted_at === null ? "" : "deleted",
  ]
    .filter((mark) => mark !== "")
    .join(", ")

/** The payload's original text, with all its digits, cut from the event's. */
const payloadText = (item: string): string =>
  item.slice(item.indexOf(',"payload":') + 11, item.lastIndexOf(',"repeat_of":'))

const cells = (item: string): ReadonlyArray<string> => {
  const event = JSON.parse(item) as ShownEvent
  return [String(event.id), event.received_at, event.source.name, event.channel, marks(event), payloadText(item)]
}

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

const pair = (name: string, value: Option.Option<string | number>): Pairs =>
  Option.isSome(value) ? [[name, String(value.value)]] : []

export const list = Command.make(
  "list",
  {
    source: Flag.String("source").pipe(
      Flag.withMetavar("SOURCE"),
      Flag.withDescription("Only events of this source, by number or name"),
      Flag.optional,
    ),
    channel: Flag.String("channel").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Only events of this channel: webhook, file or pull"),
      Flag.optional,
    ),
    limit: Flag.String("limit").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Page size, 1 to 1000; default: 100"),
      Flag.optional,
    ),
    ...startFlags,
    follow: Flag.Boolean("follow").pipe(
      Flag.withoutNegation,
      Flag.withAlias("f"),
      Flag.withDescription("Keep running and print new events; with --json, one event per line"),
      Flag.withDefault(false),
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const start = yield* startOf(input, input.follow)
        const json = yield* format
        const feed = yield* Feed
        const followed = yield* FollowFeed
        const source = Option.isNone(input.source) ? input.source : Option.some(yield* sourceNamed(input.source.value))
        const filter = [...pair("source_id", source), ...pair("channel", input.channel), ...pair("limit", input.limit)]
        const begin = beginIn(feed)
        const style = styleFor(process.stdout)
        const table = (items: ReadonlyArray<string>) =>
          columns(HEAD, items.map(cells), { style, none: "No events yet." })
        if (!input.follow) {
          const { cursor, limit } = yield* begin(filter, start)
          const page = yield* feed.page([...filter, ...pair("limit", limit), ...pair("cursor", cursor)])
          const items = page.items.texts()
          const value = {
            data: new JsonText(`[${items.join(",")}]`),
            has_more: page.hasMore,
            next_cursor: page.nextCursor,
          }
          const more = page.hasMore ? `\n\nMore results: --cursor ${page.nextCursor}` : ""
          return yield* report(json, value, () => table(items) + more)
        }
        let { cursor } = yield* begin(filter, start)
        let first = true
        while (true) {
          const params = [...filter, ...pair("cursor", cursor)]
          const { page } = yield* followed.next(params, { waitMillis: USUAL_WAIT_MILLIS }).pipe(
            Effect.tapErrorTag("StoreUnavailable", ({ message }) =>
              Effect.logWarning(`${message} Waiting until it is available again.`),
            ),
            // A follower outlives restarts of the server it follows: its cursor stays valid.
            Effect.retry({
              while: ({ _tag }) => _tag === "StoreUnavailable",
              schedule: Schedule.spaced(RETRY_INTERVAL),
            }),
          )
          cursor = Option.some(page.nextCursor)
          if (page.items.length > 0) {
            const items = page.items.texts()
            const lines = json
              ? items
              : table(items)
                  .split("\n")
                  .slice(first ? 0 : 1)
            yield* (json ? printValue : printLine)(lines.join("\n"))
            first = false
          }
        }
      }),
    ).pipe((read) => (input.follow ? Effect.andThen(staysUntilSignal, read) : read)),
).pipe(Command.withDescription("Read or follow the event feed"))
