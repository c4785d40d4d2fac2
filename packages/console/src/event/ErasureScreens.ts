/**
 * The screen of an erasure on request. Search values are sent in forms, so that they appear in no address and no log;
 * only a table's own filters, which are in its address already, are taken over.
 */
import {
  addCounts,
  Erasure,
  type ErasureCounts,
  type ErasureQuery,
  NOTHING_ERASED,
} from "@data-cabinet/core/event/Erasure"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Sources } from "@data-cabinet/core/source/Sources"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { NO_SUCH_TABLE } from "@data-cabinet/http-node/row/TablePath"
import { Clock, Effect, Option } from "effect"
import { consolePath, type Frame } from "../html/Shell.ts"
import { filtersIn } from "../integration/FilterChoice.ts"
import { knownPaths } from "../integration/KnownPaths.ts"
import type { ConsoleScreen, FormCall, Pairs } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { asTyped } from "../screen/FormAgain.ts"
import { filtersOf, valueOf, withFilters, withQuery } from "../screen/SelectionLinks.ts"
import { type ErasureData, type ErasureForm, type ErasureProgress, erasureScreen, totalOf } from "./ErasureScreen.ts"

/** After this time a form responds with its progress, and another submission continues. */
const FORM_MILLIS = 8_000

const wholeOf = (pairs: Pairs, name: string): number => {
  const text = valueOf(pairs, name) ?? ""
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

const formOf = (pairs: Pairs): ErasureForm => ({
  filters: filtersIn(pairs),
  sourceId: wholeOf(pairs, "source_id") || null,
})

const countsIn = (pairs: Pairs): ErasureCounts => ({
  events: wholeOf(pairs, "events"),
  repeats: wholeOf(pairs, "repeats"),
  rows: wholeOf(pairs, "rows"),
  originals: wholeOf(pairs, "originals"),
  deliveries: wholeOf(pairs, "deliveries"),
})

const notTyped = (total: number): ManageError => ({
  code: "bad_param",
  message: `Nothing was erased: type ${total}, the number of events and repeats.`,
  param: "confirm",
})

type OwnData = Omit<ErasureData, "sources" | "known">
type Counted = OwnData & { readonly progress: ErasureProgress }

/** Erases one range after another, for the time that a form may take. */
const goingOn = (erasure: Erasure["Service"]) =>
  Effect.fnUntraced(function* (
    is: ErasureProgress["is"],
    { filters, sourceId }: ErasureForm,
    begun: ErasureCounts,
    after: number,
  ) {
    const until = (yield* Clock.currentTimeMillis) + FORM_MILLIS
    let [counts, next]: [ErasureCounts, number | null] = [begun, after]
    do {
      const query: ErasureQuery = { filters, sourceId, after: next }
      const stretch = yield* is === "erased" ? erasure.erase(query) : erasure.find(query)
      counts = addCounts(counts, stretch)
      next = stretch.next
    } while (next !== null && (yield* Clock.currentTimeMillis) < until)
    return { is, counts, next }
  })

export const erasureScreens = Effect.gen(function* () {
  const erasure = yield* Erasure
  const sources = yield* Sources
  const catalog = yield* Catalog
  const columns = yield* SourceColumns
  const shapes = yield* Shapes

  const shown = Effect.fnUntraced(function* (frame: Frame, data: OwnData) {
    const all = yield* sources.list
    const known = yield* knownPaths(shapes, all, { sources: "all" })
    return { screen: erasureScreen(frame, { ...data, sources: all, known }) }
  })

  /** If the typed number is wrong, the count stays next to its form. */
  const notErased = Effect.fnUntraced(function* ({ frame, form: pairs, address }: FormCall, data: Counted) {
    const { screen } = yield* shown(frame, data)
    const error = notTyped(totalOf(data.progress.counts))
    return { screen: asTyped(frame, screen, { action: frame.base + address, pairs }, error), status: statusOf(error) }
  })

  const goOn = goingOn(erasure)

  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/events/erase",
      action: "event.purge",
      back: () => "events/erase",
      get: ({ frame, pairs }) => shown(frame, { form: formOf(pairs), progress: null }),
      post: {
        action: "event.purge",
        // Erased events are not found again.
        repeat: "allowed",
        respond: Effect.fnUntraced(function* (call) {
          const { frame, form: pairs } = call
          const form = formOf(pairs)
          const counts = countsIn(pairs)
          const erases = valueOf(pairs, "act") === "erase"
          const goesOn = valueOf(pairs, "goes_on") === "yes"
          if (erases && !goesOn && valueOf(pairs, "confirm")?.trim() !== String(totalOf(counts))) {
            return yield* notErased(call, { form, progress: { is: "counted", counts, next: null } })
          }
          // Erased events are counted from the beginning.
          const begun = erases && !goesOn ? NOTHING_ERASED : counts
          const progress = yield* goOn(erases ? "erased" : "counted", form, begun, wholeOf(pairs, "after"))
          return yield* shown(frame, { form, progress })
        }),
      },
    },
    {
      path: "/console/tables/{schema}/{name}/erase",
      action: "event.purge",
      get: Effect.fnUntraced(function* ({ frame, path: [schema = "", name = ""], pairs }) {
        const table = yield* catalog.find(schema, name)
        const source = Option.isSome(table) ? table.value.detail.source : null
        if (source === null) return yield* Effect.fail<ManageError>(NO_SUCH_TABLE)
        const fields = new Map((yield* columns.list(source.id)).map((one) => [one.name, one.field]))
        // A column without a field, such as `_event_id`, keeps its name: dropping its condition would erase more.
        const filters = filtersOf(pairs).map((one) => ({ ...one, column: fields.get(one.column) ?? one.column }))
        const query = withFilters([["source_id", String(source.id)]], filters)
        return { location: withQuery(consolePath(frame, "events/erase"), query) }
      }),
    },
  ]
  return screens
})
