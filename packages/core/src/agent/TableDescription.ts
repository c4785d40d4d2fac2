/**
 * Tables and their columns as agents read them: in parts of bounded size, with the name of the last item as the cursor.
 */
import { Effect, Option, Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { columnShape, type TableDetail, tableShape } from "../row/Table.ts"
import type { Tables } from "../row/Tables.ts"
import type { SelectionError } from "../selection/SelectionError.ts"
import { noSuchTable } from "../selection/SelectionParams.ts"
import { howManyFit, pageText } from "./BoundedItems.ts"
import { type ToolRefusal, toolRefusal } from "./ToolRefusal.ts"

/** The tables that a reader may see. */
export type VisibleTables = Pick<Tables["Service"], "list" | "find">

/** Cuts a text that people write, such as a comment. */
const shortened = (text: string | null, most: number): string | null =>
  text === null || text.length <= most ? text : `${text.slice(0, most)}…`

const MAX_COMMENT_CHARS = 500
const MAX_QUERY_CHARS = 8_000

const startAgain = toolRefusal("bad_cursor", "cursor is no longer part of the list: begin again without it.")

const listed = <A>(
  all: ReadonlyArray<A>,
  cursor: string | undefined,
  nameOf: (item: A) => string,
  jsonOf: (item: A) => unknown,
): Result.Result<string, ToolRefusal> => {
  const at = cursor === undefined ? -1 : all.findIndex((item) => nameOf(item) === cursor)
  if (cursor !== undefined && at === -1) return Result.fail(startAgain)
  const behind = all.slice(at + 1)
  const texts = behind.map((item) => JSON.stringify(jsonOf(item)))
  const count = howManyFit(texts)
  const hasMore = count < behind.length
  const nextCursor = hasMore ? nameOf(behind[count - 1]!) : null
  return Result.succeed(pageText({ texts: texts.slice(0, count), hasMore, nextCursor }))
}

/** The readable tables as JSON text. */
export const listedTables = (
  tables: VisibleTables,
  cursor: string | undefined,
): Effect.Effect<string, StoreUnavailable | ToolRefusal> =>
  Effect.flatMap(tables.list, (all) =>
    Effect.fromResult(
      listed(
        all,
        cursor,
        ({ schema, name }) => JSON.stringify([schema, name]),
        (one) => tableShape.json({ ...one, comment: shortened(one.comment, MAX_COMMENT_CHARS) }),
      ),
    ),
  )

/** The members of a table's description besides its columns. */
const aboutTable = (detail: TableDetail): string =>
  JSON.stringify({
    ...tableShape.json({ ...detail, comment: shortened(detail.comment, MAX_COMMENT_CHARS) }),
    key: detail.key,
    definition: shortened(detail.definition, MAX_QUERY_CHARS),
  })

/** A table with its columns as JSON text; `cursor` continues a long list of columns. */
export const describedTable = Effect.fnUntraced(function* (
  tables: VisibleTables,
  schema: string,
  name: string,
  cursor?: string,
): Effect.fn.Return<string, SelectionError | StoreUnavailable | ToolRefusal> {
  const found = yield* tables.find(schema, name)
  if (Option.isNone(found)) return yield* noSuchTable(schema, name)
  const columns = yield* Effect.fromResult(
    listed(
      found.value.columns,
      cursor,
      (column) => column.name,
      (one) => columnShape.json({ ...one, comment: shortened(one.comment, MAX_COMMENT_CHARS) }),
    ),
  )
  return `${aboutTable(found.value).slice(0, -1)},"columns":${columns}}`
})
