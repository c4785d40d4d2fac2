/** `cabinet event list`: the feed in the API's form, once or as it grows. */
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FollowFeed, USUAL_WAIT_MILLIS } from "@data-cabinet/core/feed/FollowFeed"
import { Effect, Option, Schedule } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, printLine, report } from "../output/Report.ts"
import { styleFor } from "../output/Style.ts"
import { staysUntilSignal } from "../process/StaysUntilSignal.ts"
import { sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

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
}

const HEAD = ["ID", "RECEIVED", "SOURCE", "CHANNEL", "", "PAYLOAD"]

const marks = (event: ShownEvent): string =>
  [
    event.repeat_of === null ? "" : `repeats ${event.repeat_of}`,
    event.history ? "history" : "",
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

const pair = (name: string, value: Option.Option<string | number>): ReadonlyArray<readonly [string, string]> =>
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
    cursor: Flag.String("cursor").pipe(
      Flag.withMetavar("CURSOR"),
      Flag.withDescription("Continue from a previous next_cursor; default: from the beginning"),
      Flag.optional,
    ),
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
        const json = yield* format
        const feed = yield* Feed
        const followed = yield* FollowFeed
        const source = Option.isNone(input.source) ? input.source : Option.some(yield* sourceNamed(input.source.value))
        const filter = [...pair("source_id", source), ...pair("channel", input.channel), ...pair("limit", input.limit)]
        const style = styleFor(process.stdout)
        const table = (items: ReadonlyArray<string>) =>
          columns(HEAD, items.map(cells), { style, none: "No events yet." })
        if (!input.follow) {
          const page = yield* feed.page([...filter, ...pair("cursor", input.cursor)])
          const items = page.items.texts()
          const value = {
            data: new JsonText(`[${items.join(",")}]`),
            has_more: page.hasMore,
            next_cursor: page.nextCursor,
          }
          const more = page.hasMore ? `\n\nMore results: --cursor ${page.nextCursor}` : ""
          return yield* report(json, value, () => table(items) + more)
        }
        let cursor = input.cursor
        let first = true
        while (true) {
          const asked = [...filter, ...pair("cursor", cursor)]
          const { page } = yield* followed.next(asked, { waitMillis: USUAL_WAIT_MILLIS }).pipe(
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
            yield* printLine(lines.join("\n"))
            first = false
          }
        }
      }),
    ).pipe((read) => (input.follow ? Effect.andThen(staysUntilSignal, read) : read)),
).pipe(Command.withDescription("Read or follow the event feed"))
