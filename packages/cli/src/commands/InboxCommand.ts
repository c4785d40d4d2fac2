/** `cabinet inbox …`: the messages of a form, and what people marked on them. */
import { INBOX_MARKS } from "@data-cabinet/core/event/EventListStore"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import { type InboxMessage, inboxMessageShape, type MessageMarks } from "@data-cabinet/core/inbox/InboxMessage"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { card, columns } from "../output/Columns.ts"
import { plainLines } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import { EXAMPLES } from "./Examples.ts"
import { limitFlag } from "./LimitFlag.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, idArgument, withCabinet } from "./Root.ts"

const source = sourceArgument()
const events = idArgument("EVENT", "Numbers of the messages' events").pipe(Argument.atLeast(1))

const marksText = ({ read, done }: MessageMarks): string => (done ? "done" : read ? "read" : "unread")

const flags = {
  source,
  mark: Flag.Literals("mark", INBOX_MARKS).pipe(
    Flag.withDescription("Only messages marked so; open: not done, unread: neither read nor done"),
    Flag.optional,
  ),
  text: Flag.String("text").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription("Only messages with this text in a field, ignoring case"),
    Flag.optional,
  ),
  cursor: Flag.String("cursor").pipe(
    Flag.withMetavar("CURSOR"),
    Flag.withDescription("Continue after the previous page"),
    Flag.optional,
  ),
  limit: limitFlag("messages", MAX_LIMIT, 50),
}

const cells = (one: InboxMessage): ReadonlyArray<string> => [
  String(one.eventId),
  one.receivedAt,
  marksText(one),
  one.name ?? one.email ?? "",
  one.subject ?? "",
  one.message ?? "",
]

const list = Command.make("list", flags, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const sourceId = yield* sourceNamed(input.source)
      const { items, nextCursor, searchedTo } = yield* Inbox.use((inbox) =>
        inbox.page(sourceId, {
          mark: Option.getOrNull(input.mark),
          text: Option.getOrNull(input.text),
          cursor: Option.getOrUndefined(input.cursor),
          limit: input.limit,
        }),
      )
      const value = {
        data: items.map(inboxMessageShape.json),
        has_more: nextCursor !== null,
        next_cursor: nextCursor,
        searched_to: searchedTo,
      }
      yield* report(yield* format, value, (style) => {
        const none =
          searchedTo === null
            ? "No messages match."
            : `No messages match since ${searchedTo}; older ones were not searched.`
        const table = columns(["EVENT", "RECEIVED", "STATE", "FROM", "SUBJECT", "MESSAGE"], items.map(cells), {
          style,
          none,
        })
        return nextCursor === null ? table : `${table}\n\nMore results: --cursor ${nextCursor}`
      })
    }),
  ),
).pipe(Command.withDescription("List the messages of a form, newest first"))

const show = Command.make("show", { source, event: idArgument("EVENT", "The number of its event") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const sourceId = yield* sourceNamed(input.source)
      const one = yield* Inbox.use((inbox) => inbox.find(sourceId, input.event))
      yield* report(yield* format, inboxMessageShape.json(one), (style) => {
        const head = card(
          [
            ["Event", String(one.eventId)],
            ["Received", one.receivedAt],
            ["State", marksText(one)],
            ["Name", one.name ?? "—"],
            ["E-mail", one.email ?? "—"],
            ["Subject", one.subject ?? "—"],
          ],
          style,
        )
        return `${head}\n\n${plainLines(one.message ?? "")}`
      })
    }),
  ),
).pipe(Command.withDescription("Show one message"))

const marking = (name: string, marks: Partial<MessageMarks>, as: string) =>
  Command.make(name, { source, events }, (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const sourceId = yield* sourceNamed(input.source)
        const changed = yield* Inbox.use((inbox) => inbox.mark(sourceId, input.events, marks))
        yield* report(
          yield* format,
          { source_id: sourceId, changed },
          () => `${counted(changed, "message")} marked as ${as}.`,
        )
      }),
    ),
  ).pipe(Command.withDescription(`Mark messages as ${as}`))

export const inboxCommand = Command.make("inbox").pipe(
  Command.withExamples(EXAMPLES.inbox),
  Command.withDescription("List, read and mark the messages of a form"),
  Command.withSubcommands([
    list,
    show,
    marking("read", { read: true }, "read"),
    marking("unread", { read: false }, "unread"),
    marking("done", { done: true }, "done"),
    marking("undone", { done: false }, "not done"),
  ]),
)
