/**
 * Moves events to the trash, restores them, and erases them for good: those marked in a list, or the one of a screen.
 */
import { noSuchEvent } from "@data-cabinet/core/error/NoSuchEvent"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Trash, type TrashError } from "@data-cabinet/core/event/Trash"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option } from "effect"
import { act, fieldOf, fieldsOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen, FormCall } from "../screen/ConsoleScreen.ts"

/** An event with its source: `5.1041`. */
const markedIn = (call: FormCall): ReadonlyArray<{ readonly source: number; readonly event: number }> =>
  fieldsOf(call, "event").map((text) => {
    const [source, event] = text.split(".")
    return { source: idOf(source), event: idOf(event) }
  })

const nothingMarked: ManageError = {
  code: "bad_param",
  message: "Nothing was done: select at least one event.",
  param: "event",
}

/** Whose filter and page are kept. */
const LISTS = ["events", "trash"]

const notConfirmed = (what: string): ManageError => ({
  code: "bad_param",
  message: `Nothing was erased: type ${what}.`,
  param: "confirm",
})

type OfSource = (
  sourceId: number,
  events: ReadonlyArray<number>,
) => Effect.Effect<number, TrashError | StoreUnavailable>

/** One call per source: the events of one source change together. */
const bySource = (work: OfSource) =>
  Effect.fnUntraced(function* (call: FormCall) {
    const marked = markedIn(call)
    if (marked.length === 0) return yield* Effect.fail(nothingMarked)
    for (const [source, its] of Map.groupBy(marked, (one) => one.source)) {
      yield* work(
        source,
        its.map(({ event }) => event),
      )
    }
    return null
  })

export const trashActs = Effect.gen(function* () {
  const trash = yield* Trash
  const detail = yield* EventDetail
  const sourceOf = Effect.fnUntraced(function* (event: number) {
    const record = event === 0 ? Option.none() : yield* detail.find(event)
    if (Option.isSome(record)) return record.value.sourceId
    return yield* Effect.fail<ManageError>({ code: "no_such_event", message: noSuchEvent(event) })
  })
  const path = "/console/events/{id}" as const
  const home = ([id]: ReadonlyArray<string>) => `events/${id}`
  const ofOne = (name: "trash" | "restore", work: OfSource) =>
    act({
      path: `${path}/${name}`,
      action: "event.trash",
      home,
      stays: (segments) => [home(segments)],
      repeat: "allowed",
      respond: ({ path: [id] }) =>
        Effect.flatMap(sourceOf(idOf(id)), (source) => Effect.as(work(source, [idOf(id)]), null)),
    })
  const screens: ReadonlyArray<ConsoleScreen> = [
    act({
      path: "/console/events/trash",
      action: "event.trash",
      home: () => "events",
      stays: () => LISTS,
      repeat: "allowed",
      respond: bySource(trash.trash),
    }),
    act({
      path: "/console/events/restore",
      action: "event.trash",
      home: () => "trash",
      stays: () => LISTS,
      repeat: "allowed",
      respond: bySource(trash.untrash),
    }),
    act({
      path: "/console/events/purge",
      action: "event.purge",
      home: () => "trash",
      stays: () => LISTS,
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const events = markedIn(call).map(({ event }) => event)
        if (events.length === 0) return yield* Effect.fail(nothingMarked)
        if (fieldOf(call, "confirm") !== String(events.length)) {
          return yield* Effect.fail(notConfirmed("how many events are marked"))
        }
        return yield* Effect.as(trash.purge(events), null)
      }),
    }),
    ofOne("trash", trash.trash),
    ofOne("restore", trash.untrash),
    act({
      path: `${path}/purge`,
      action: "event.purge",
      home,
      stays: (segments) => [home(segments)],
      repeat: "allowed",
      respond: Effect.fnUntraced(function* (call) {
        const id = idOf(call.path[0])
        if (fieldOf(call, "confirm") !== String(id)) return yield* Effect.fail(notConfirmed("the event's number"))
        return yield* Effect.as(trash.purge([id]), null)
      }),
    }),
  ]
  return screens
})
