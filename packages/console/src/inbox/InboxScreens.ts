/** The screens of inboxes: the list of a form's messages, one message, and its acts. */
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import type { MessageMarks } from "@data-cabinet/core/inbox/InboxMessage"
import type { Source } from "@data-cabinet/core/source/Source"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { addressOf } from "@data-cabinet/http-node/server/Route"
import { Effect, Option } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { consolePath } from "../html/Shell.ts"
import { liveFrom } from "../live/LiveScreens.ts"
import { act, fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import { type ConsoleRefusal, type ConsoleScreen, type FormCall, wantsFragment } from "../screen/ConsoleScreen.ts"
import { inboxLists } from "../table/ListBehind.ts"
import { inboxExports } from "./InboxExport.ts"
import { inboxQuery } from "./InboxQuery.ts"
import { inboxScreen, noInboxScreen } from "./InboxScreen.ts"
import { AND_NEXT, messagePanel, messageScreen } from "./MessageDetail.ts"

/** Host and path of the page with the form; null for anything else. */
const pageOf = (referer: string | null): string | null => {
  if (referer === null || !URL.canParse(referer)) return null
  const { protocol, host, pathname } = new URL(referer)
  return /^https?:$/.test(protocol) ? `${host}${pathname === "/" ? "" : pathname}`.slice(0, 200) : null
}

/** The most forms among which the first with messages is opened; the others are a click away. */
const LOOKED_INTO = 5

const PATH = "/console/inbox/{id}/{event}"
const home = ([id]: ReadonlyArray<string>) => `inbox/${id}`

const messageActs = Effect.gen(function* () {
  const inbox = yield* Inbox
  const trash = yield* Trash
  /** The list that the message was opened from, below `/console/`. */
  const behind = (call: FormCall): string => {
    const list = inboxLists.in(call.form)
    return list === "inbox" ? home(call.path) : list
  }
  const listOf = (call: FormCall) => ({ location: consolePath(call.frame, behind(call)) })
  /** From a message's own screen: the message below it in its list, or the one above the last. Null without one. */
  const nextOf = Effect.fnUntraced(function* (call: FormCall) {
    if (fieldOf(call, AND_NEXT) === "") return null
    const list = behind(call)
    const [source, event] = call.path.map(idOf)
    const { items } = yield* inbox.page(source!, inboxQuery(queryPairs(addressOf(`/${list}`).query)))
    const ids = items.map(({ eventId }) => eventId)
    const next = ids.find((id) => id < event!) ?? ids.findLast((id) => id > event!)
    if (next === undefined) return null
    return { location: consolePath(call.frame, inboxLists.within(`inbox/${source}/${next}`, list)) }
  })
  const acting = (
    name: string,
    action: "inbox.mark" | "event.trash",
    work: (source: number, event: number) => Effect.Effect<unknown, ConsoleRefusal>,
  ) =>
    act({
      path: `${PATH}/${name}` as typeof PATH,
      action,
      home: ([id, event]) => `inbox/${id}/${event}`,
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        // Found before the act, which may take the message out of the list.
        const next = yield* nextOf(call)
        yield* work(idOf(call.path[0]), idOf(call.path[1]))
        // The script marks what it has opened, and stays where it is.
        return wantsFragment(call) ? { fragment: "" } : (next ?? listOf(call))
      }),
    })
  const marking = (name: string, marks: Partial<MessageMarks>) =>
    acting(name, "inbox.mark", (source, event) => inbox.mark(source, [event], marks))
  return [
    marking("read", { read: true }),
    marking("unread", { read: false }),
    marking("done", { done: true }),
    marking("undone", { done: false }),
    acting("trash", "event.trash", (source, event) => trash.trash(source, [event])),
    acting("restore", "event.trash", (source, event) => trash.untrash(source, [event])),
    act({
      path: "/console/inbox/{id}/read",
      action: "inbox.mark",
      home,
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const events = fieldsOf(call, "event").map(idOf)
        if (events.length > 0) yield* inbox.mark(idOf(call.path[0]), events, { read: true })
        return listOf(call)
      }),
    }),
  ]
})

export const inboxScreens = Effect.gen(function* () {
  const inbox = yield* Inbox
  const detail = yield* EventDetail
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const live = yield* liveFrom
  const found = (id: number) =>
    Effect.flatMap(sources.get(id), (source) =>
      Option.isSome(source)
        ? Effect.succeed(source.value)
        : Effect.fail<ManageError>({ code: "no_such_source", message: `Source ${id} does not exist.` }),
    )
  const hasMessages = ({ id }: Source) =>
    Effect.map(inbox.page(id, { mark: null, text: null, limit: 1 }), ({ items }) => items.length > 0)
  const first: ConsoleScreen = {
    path: "/console/inbox",
    action: "event.read",
    get: Effect.fnUntraced(function* ({ frame }) {
      const [form, ...others] = yield* inbox.forms
      if (form === undefined) return { screen: noInboxScreen(frame) }
      const used = yield* Effect.findFirst([form, ...others].slice(0, LOOKED_INTO), hasMessages)
      return { location: consolePath(frame, `inbox/${Option.getOrElse(used, () => form).id}`) }
    }),
  }
  const list: ConsoleScreen = {
    path: "/console/inbox/{id}",
    action: "event.read",
    get: Effect.fnUntraced(function* ({ frame, path: [id], pairs }) {
      const source = yield* found(idOf(id))
      // Read before the list: messages that come in between are counted, though the list may contain them.
      const from = yield* live({ sourceId: source.id, channel: "webhook" })
      const [page, figures, forms] = yield* Effect.all(
        [inbox.page(source.id, inboxQuery(pairs)), inbox.figures(source.id), inbox.forms],
        { concurrency: 3 },
      )
      return { screen: inboxScreen(frame, { source, forms, page, figures, pairs, live: from, timeZone }) }
    }),
  }
  const one: ConsoleScreen = {
    path: PATH,
    action: "event.read",
    get: Effect.fnUntraced(function* (call) {
      const {
        frame,
        path: [id, event],
        pairs,
      } = call
      const source = yield* found(idOf(id))
      const open = yield* inbox.open(source.id, idOf(event))
      const [earlier, record] = yield* Effect.all(
        [inbox.earlier(source.id, open.message), detail.find(open.message.eventId)],
        { concurrency: 2 },
      )
      const original = Option.isSome(record) ? record.value.original : null
      const known = inboxLists.in(pairs)
      const behind = known === "inbox" ? `inbox/${source.id}` : known
      const data = { source, open, earlier, page: pageOf(original?.referer ?? null), list: behind, timeZone }
      return wantsFragment(call) ? { fragment: messagePanel(frame, data).text } : { screen: messageScreen(frame, data) }
    }),
  }
  const fields = act({
    path: "/console/inbox/{id}/fields",
    action: "source.change",
    home,
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const field = (name: string) => fieldOf(call, name) || null
      yield* sources.change(idOf(call.path[0]), {
        inboxName: field("name"),
        inboxEmail: field("email"),
        inboxSubject: field("subject"),
        inboxMessage: field("message"),
      })
      return null
    }),
  })
  return [first, list, one, fields, ...(yield* messageActs), ...(yield* inboxExports)]
})
