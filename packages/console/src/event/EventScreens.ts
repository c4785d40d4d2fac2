/** The screens of events: the list, one event, and the bytes of its original request. */
import { AddressStore } from "@data-cabinet/core/delivery/AddressStore"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { EventBrowser, type EventList } from "@data-cabinet/core/event/EventBrowser"
import { noSuchEvent } from "@data-cabinet/core/error/NoSuchEvent"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { EVENT_STATES } from "@data-cabinet/core/event/EventListStore"
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { isCheckableLate } from "@data-cabinet/core/verification/LateCheck"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option, Clock } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { eventLists } from "../table/ListBehind.ts"
import type { ConsoleScreen, Pairs, ScreenCall } from "../screen/ConsoleScreen.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { liveFrom } from "../live/LiveScreens.ts"
import { eventListScreen } from "./EventListScreen.ts"
import { eventScreen } from "./EventScreen.ts"

/** Each page of the search takes a second at most; a screen must be complete within nine. */
const SEARCH_MILLIS = 4_000

/** The first page with an event, or the one at which the time was up; `nextCursor` goes on from there. */
export const searchOn = Effect.fnUntraced(function* <E>(
  page: (cursor: string | undefined) => Effect.Effect<EventList, E>,
  first: string | undefined,
) {
  const until = (yield* Clock.currentTimeMillis) + SEARCH_MILLIS
  let list = yield* page(first)
  while (list.items.length === 0 && list.nextCursor !== null && (yield* Clock.currentTimeMillis) < until) {
    list = yield* page(list.nextCursor)
  }
  return list
})

const LIST_LIMIT = 50
/** The most addresses in order that an event's screen names. */
const MOST_IN_ORDER = 20

const readId = (text: string): number | null => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : null)

/** An unknown filter is ignored: a person typed this address, not a program. */
const filterOf = (pairs: Pairs) => {
  const text = valueOf(pairs, "text")?.replaceAll("\0", "").trim() ?? ""
  const number = /^#(\d{1,15})$/.exec(text)?.[1]
  return {
    sourceId: readId(valueOf(pairs, "source_id") ?? ""),
    channel: CHANNELS.find((one) => one === valueOf(pairs, "channel")) ?? null,
    state: EVENT_STATES.find((one) => one === valueOf(pairs, "state")) ?? null,
    event: number === undefined ? null : Number(number),
    text: text === "" || number !== undefined ? null : text,
  }
}

export const eventScreens = Effect.gen(function* () {
  const browser = yield* EventBrowser
  const detail = yield* EventDetail
  const sent = yield* Deliveries
  const sources = yield* Sources
  const addresses = yield* AddressStore
  const { timeZone } = yield* ConsoleSettings
  const live = yield* liveFrom
  const missing = (id: string): ManageError => ({ code: "no_such_event", message: noSuchEvent(id) })
  const found = Effect.fnUntraced(function* (text: string) {
    const id = readId(text)
    const record = id === null ? Option.none() : yield* detail.find(id)
    return id === null || Option.isNone(record) ? yield* Effect.fail(missing(text)) : { id, record: record.value }
  })
  const listed = Effect.fnUntraced(function* ({ frame, pairs }: ScreenCall, trash: boolean) {
    const filter = trash ? { ...filterOf(pairs), state: "trashed" as const } : filterOf(pairs)
    // Read before the list: events that come in between are counted, though the list may contain them.
    const from = trash ? null : yield* live(filter)
    const page = (cursor: string | undefined) => browser.page({ ...filter, limit: LIST_LIMIT, cursor })
    const list = yield* searchOn(page, valueOf(pairs, "cursor"))
    const all = yield* sources.list
    return { screen: eventListScreen(frame, { list, sources: all, pairs, timeZone, trash, live: from }) }
  })
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/events",
      action: "event.read",
      get: (call) => listed(call, false),
    },
    { path: "/console/trash", action: "event.read", get: (call) => listed(call, true) },
    {
      path: "/console/events/{id}",
      action: "event.read",
      get: Effect.fnUntraced(function* ({ frame, path: [text], pairs }) {
        const { id, record } = yield* found(text!)
        const one = yield* browser.page({ event: id, limit: 1 })
        const source = yield* sources.get(record.sourceId)
        const checkable = Option.isSome(source) && source.value.verify !== null && isCheckableLate(source.value.verify)
        const list = eventLists.in(pairs)
        const deliveries = yield* sent.ofEvent(id)
        const inOrder = yield* addresses.inOrder(record.sourceId, MOST_IN_ORDER)
        const data = {
          record,
          listed: one.items[0] ?? null,
          timeZone,
          addresses: yield* addresses.some(deliveries.map(({ addressId }) => addressId)),
          deliveries,
          inOrder,
          checkable,
          list,
        }
        return { screen: eventScreen(frame, data) }
      }),
    },
    {
      path: "/console/events/{id}/original",
      action: "event.read",
      get: Effect.fnUntraced(function* ({ path: [text] }) {
        const { id, record } = yield* found(text!)
        if (record.original === null) return yield* Effect.fail(missing(text!))
        // The browser saves a sender's bytes and never renders them.
        const headers = {
          "content-type": "application/octet-stream",
          "content-disposition": `attachment; filename="event-${id}.bin"`,
          "content-security-policy": "sandbox; default-src 'none'",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store",
        }
        return { answer: { status: 200, headers, body: record.original.body } }
      }),
    },
  ]
  return screens
})
