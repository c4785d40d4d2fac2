/** Indexes of columns over the management API. */
import { columnIndexShape } from "@data-cabinet/core/row/ColumnIndexStore"
import { ColumnIndexes, columnIndexStateShape } from "@data-cabinet/core/row/ColumnIndexes"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment } from "../manage/ManageParameters.ts"
import { list, one, whole } from "../manage/ManageResponses.ts"

const table = [
  nameSegment("schema", "The schema's name.", "sources"),
  nameSegment("name", "The name of the table or materialized view.", "orders"),
] as const

const body = Schema.Struct({
  columns: Schema.Array(text(63, "A column.")).annotate({
    description: "One to three columns, in the order in which they are filtered or sorted.",
  }),
})

export const manageColumnIndexes = Effect.gen(function* () {
  const indexes = yield* ColumnIndexes
  const common = { tag: "Tables", path: "/manage/v1/tables/{schema}/{name}/indexes", segments: table } as const
  return [
    manageEndpoint({
      ...common,
      id: "listIndexes",
      method: "GET",
      summary: "The indexes of a table's columns",
      description:
        "Those that were created here, also while one is being built: `progress` is then from 0 to 1. The list is not paginated.",
      action: "column.read",
      response: list(columnIndexShape, "The indexes."),
      errors: ["no_such_table"],
      params: { no_such_table: "name" },
      respond: ({ path: [schema, name] }) =>
        Effect.map(indexes.list(schema, name), (all) => whole(all.map(columnIndexShape.json))),
    }),
    manageEndpoint({
      ...common,
      id: "buildIndex",
      method: "PUT",
      summary: "Build an index of columns",
      description:
        "Makes filters and sorts by these columns fast. Responds when it is built; nothing is built if an index serves them already.",
      action: "column.change",
      body,
      response: one(columnIndexStateShape, "The index."),
      errors: ["no_such_table", "no_such_column", "not_indexable", "no_right", "build_failed"],
      params: { no_such_table: "name", no_such_column: "/columns", not_indexable: "/columns" },
      respond: ({ path: [schema, name], body: { columns } }) =>
        Effect.map(indexes.build(schema, name, columns), (built) =>
          columnIndexStateShape.json({ table: `${schema}.${name}`, ...built }),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "dropIndex",
      method: "DELETE",
      path: "/manage/v1/tables/{schema}/{name}/indexes/{index}",
      segments: [...table, nameSegment("index", "The index's name.", "cabinet_index_16400_1")],
      summary: "Drop an index of columns",
      description: "Rows are the same without it.",
      action: "column.change",
      response: one(columnIndexShape, "The index that was dropped."),
      errors: ["no_such_table", "no_such_index", "no_right"],
      params: { no_such_table: "name", no_such_index: "index" },
      respond: ({ path: [schema, name, index] }) =>
        Effect.map(indexes.drop(schema, name, index), columnIndexShape.json),
    }),
  ]
})
