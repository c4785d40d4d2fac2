/** The acts that change a column's label and type, and the one that drops it. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { SourceColumn, SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { act, fieldOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { tablePath } from "./TablePath.ts"
import { notationIn } from "../html/Choice.ts"

interface ColumnActs {
  /** The address of the column's screen. */
  readonly path: ConsoleScreen["path"]
  readonly home: (segments: ReadonlyArray<string>) => string
  readonly columnAt: (
    segments: ReadonlyArray<string>,
  ) => Effect.Effect<
    { readonly table: ReadableTable; readonly column: SourceColumn; readonly sourceId: number },
    ManageError | StoreUnavailable
  >
  readonly columns: SourceColumns["Service"]
}

export const columnActs = ({ path, home, columnAt, columns }: ColumnActs): ReadonlyArray<ConsoleScreen> => [
  act({
    path: `${path}/label`,
    action: "column.change",
    home,
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const { sourceId, column } = yield* columnAt(call.path)
      yield* columns.relabel(sourceId, column.name, fieldOf(call, "label"))
      return null
    }),
  }),
  act({
    path: `${path}/drop`,
    action: "column.change",
    home,
    // A dropped column is not dropped again: the second form is refused.
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const { table, sourceId, column } = yield* columnAt(call.path)
      yield* columns.drop(sourceId, column.name)
      return { location: tablePath(call.frame, table.detail.schema, table.detail.name) }
    }),
  }),
  act({
    path: `${path}/retype`,
    action: "column.change",
    home,
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const { sourceId, column } = yield* columnAt(call.path)
      const type = COLUMN_KINDS.find((kind) => kind === fieldOf(call, "type"))
      if (type === undefined) {
        const message = `The type must be one of ${COLUMN_KINDS.join(", ")}.`
        return yield* Effect.fail<ManageError>({ code: "bad_param", message, param: "type" })
      }
      // The views to be recreated were shown next to the button.
      const notation = notationIn((each) => fieldOf(call, each))
      yield* columns.retype(sourceId, column.name, type, { withViews: true, notation })
      return null
    }),
  }),
]
