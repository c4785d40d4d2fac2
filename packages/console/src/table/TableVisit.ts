/** A visit of a table's screen, also with a selection that is refused. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { selectionScript } from "@data-cabinet/core/selection/SelectionScript"
import type { SavedViews } from "@data-cabinet/core/view/SavedViews"
import { manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Result } from "effect"
import { type Frame, may } from "../html/Shell.ts"
import type { liveFrom } from "../live/LiveScreens.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { asTyped } from "../screen/FormAgain.ts"
import { withoutPart } from "./ColumnPart.ts"
import type { tablePages } from "./TablePages.ts"
import { tablePath } from "./TablePath.ts"
import { tableScreen } from "./TableScreen.ts"

type Live = Effect.Success<typeof liveFrom>
type Page = Effect.Success<typeof tablePages>["page"]

type Views = (typeof SavedViews)["Service"]

export const tableVisit = (live: Live, page: Page, savedViews: Views, timeZone: string) =>
  Effect.fnUntraced(function* (frame: Frame, table: ReadableTable, sent: Pairs) {
    const pairs = withoutPart(sent)
    const { source, schema, name } = table.detail
    const from = source === null ? null : yield* live({ sourceId: source.id, channel: null })
    const reading = Effect.match(page(table, sent), {
      onSuccess: (read) => ({ page: read, refused: null }),
      onFailure: (error) => ({ page: null, refused: manageErrorOf(error) }),
    })
    const saved = may(frame, "view.read") ? savedViews.list : Effect.succeed([])
    // The rows do not wait for their titles.
    const titles = Effect.match(saved, { onSuccess: (views) => views, onFailure: () => [] })
    const [shown, all] = yield* Effect.all([reading, titles], { concurrency: 2 })
    const views = all.filter((view) => view.schema === schema && view.name === name)
    const sql = Result.getOrElse(selectionScript(table, pairs, timeZone), () => null)
    const screen = tableScreen(frame, { table, pairs, timeZone, live: from, sql, views, ...shown })
    const { refused } = shown
    if (refused === null) return { screen }
    const typed = { action: `${tablePath(frame, schema, name)}/select`, pairs, isFilled: true } as const
    return { screen: asTyped(frame, screen, typed, refused), status: statusOf(refused) }
  })

export type TableVisit = ReturnType<typeof tableVisit>
