/** The screen on which a source's table is rebuilt, and its acts. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { RebuildWishes } from "@data-cabinet/core/row/RebuildStore"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { act } from "../screen/Act.ts"
import { type ConsoleScreen, type Pairs, wantsFragment } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { asTyped } from "../screen/FormAgain.ts"
import { rebuildPart, rebuildPath, rebuildScreen } from "./RebuildScreen.ts"
import { valueOf, valuesOf } from "../screen/SelectionLinks.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const NOT_OF_A_SOURCE: ManageError = {
  code: "no_table",
  message: "Only the table of a source can be made again from its events.",
}

const wishesOf = (pairs: Pairs): RebuildWishes => {
  const [types, names] = [valuesOf(pairs, "type"), valuesOf(pairs, "name")]
  const columns = valuesOf(pairs, "column").flatMap((column, at) => {
    const type = COLUMN_KINDS.find((kind) => kind === types[at])
    const name = names[at]?.trim() ?? ""
    return column === "" ? [] : [{ column, ...(type === undefined ? {} : { type }), ...(name === "" ? {} : { name }) }]
  })
  return {
    columns,
    withoutEmpty: valueOf(pairs, "without_empty") === "on",
    nestBrackets: valueOf(pairs, "nest_brackets") === "on",
  }
}

const home = ([schema = "", name = ""]: ReadonlyArray<string>) =>
  `tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/rebuild`

export const rebuildScreens = (found: Find) =>
  Effect.gen(function* () {
    const rebuilds = yield* TableRebuild
    const fields = yield* SourceColumns
    const path = "/console/tables/{schema}/{name}/rebuild" as const

    const tableAt = Effect.fnUntraced(function* ([schema = "", name = ""]: ReadonlyArray<string>) {
      const table = yield* found(schema, name)
      const { source } = table.detail
      return source === null ? yield* Effect.fail(NOT_OF_A_SOURCE) : { table, sourceId: source.id }
    })
    /** Null without one. */
    const latestOf = (sourceId: number) =>
      Effect.catchTag(rebuilds.state(sourceId), "RebuildError", () => Effect.succeed(null))

    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path,
        action: "column.change",
        back: home,
        get: Effect.fnUntraced(function* (call) {
          const { frame, pairs } = call
          const { table, sourceId } = yield* tableAt(call.path)
          const latest = yield* latestOf(sourceId)
          const all = yield* fields.list(sourceId)
          const columns = all.map(({ name }) => name).filter((name) => name !== MORE_COLUMN)
          const wishes = wishesOf(pairs)
          const data = { table, columns, latest, wishes }
          if (wantsFragment(call)) return { fragment: rebuildPart(frame, { ...data, preview: null }).text }
          if (valueOf(pairs, "show") === undefined || latest?.state === "running") {
            return { screen: rebuildScreen(frame, { ...data, preview: null }) }
          }
          const { preview, refused } = yield* Effect.match(rebuilds.plan(sourceId, wishes), {
            onSuccess: (shown) => ({ preview: shown, refused: null }),
            onFailure: (error) => ({ preview: null, refused: manageErrorOf(error) }),
          })
          const screen = rebuildScreen(frame, { ...data, preview })
          if (refused === null) return { screen }
          const { schema, name } = table.detail
          const typed = { action: rebuildPath(frame, schema, name), pairs }
          return { screen: asTyped(frame, screen, typed, refused), status: statusOf(refused) }
        }),
      },
      act({
        path: `${path}/start`,
        action: "column.change",
        home,
        repeat: "once",
        respond: Effect.fnUntraced(function* ({ path: segments, form }) {
          const { sourceId } = yield* tableAt(segments)
          yield* rebuilds.start(sourceId, wishesOf(form))
          return null
        }),
      }),
      act({
        path: `${path}/cancel`,
        action: "column.change",
        home,
        repeat: "allowed",
        respond: Effect.fnUntraced(function* ({ path: segments }) {
          const { sourceId } = yield* tableAt(segments)
          yield* rebuilds.cancel(sourceId)
          return null
        }),
      }),
    ]
    return screens
  })
