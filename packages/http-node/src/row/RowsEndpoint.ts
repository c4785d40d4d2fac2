/** The rows of a table or view over the API. Rows are JSON in UTF-8 from the moment they are read, and never parsed. */
import { rowText, type TextFormat } from "@data-cabinet/core/export/RowText"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import type { Column } from "@data-cabinet/core/row/Table"
import { columnShape } from "@data-cabinet/core/row/Table"
import { FILTER_CONDITIONS, FILTER_JOINS, MAX_ALTERNATIVES, MAX_SORTS } from "@data-cabinet/core/selection/Selection"
import type { SelectionError } from "@data-cabinet/core/selection/SelectionError"
import { type SELECTION_PARAMS, selectionError, shown } from "@data-cabinet/core/selection/SelectionParams"
import { type RowsPage, SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Context, Effect, Result } from "effect"
import { type Endpoint, type QueryParameter, CURSOR_PARAMETER, LIMIT_PARAMETER } from "../api/Endpoint.ts"
import { DEADLINE_MILLIS, endpointRoute, type KeyedRequest, type OtherForm } from "../api/EndpointRoute.ts"
import { COLUMN_EXAMPLES } from "../openapi/Examples.ts"
import { ref } from "../openapi/Schemas.ts"
import { pageBody } from "../html/PageBody.ts"
import { TABLE_PATH } from "./TablePath.ts"

const text = { type: "string" }
const day = { type: "string", format: "date" }

const DIRECTIONS = { type: "string", enum: ["asc", "desc"] }

/** One value, or several in their order. */
const oneOrMany = (schema: JsonSchema): JsonSchema => ({
  anyOf: [schema, { type: "array", items: schema, maxItems: MAX_SORTS }],
})

const PARAMETERS: { readonly [name in (typeof SELECTION_PARAMS)[number]]: Omit<QueryParameter, "name"> } = {
  q: { description: "Substring search in every column, case-insensitive.", schema: text, example: "ada" },
  fc: {
    description: "The column of a filter. The first `fc` belongs to the first `fo` and the first `fv`, and so on.",
    schema: text,
    repeats: true,
    example: ["total"],
  },
  fo: {
    description:
      "A filter's condition. `gt`, `ge`, `lt` and `le` go by the order of the column's own type: in a column of text `9.50` comes after `10`. Give a source's column the type `numeric` to compare numbers: `cabinet table column SOURCE COLUMN --type numeric`, or `changeColumn` of the management API.",
    schema: { type: "string", enum: FILTER_CONDITIONS },
    repeats: true,
    example: ["ge"],
  },
  fv: {
    description: "A filter's value; empty for `empty` and `notempty`. Empty values at the end may be left out.",
    schema: text,
    repeats: true,
    example: ["10"],
  },
  fj: {
    description: `How two adjacent filters are joined: the first \`fj\` stands between the first two filters, and so on; \`and\` where it is empty or left out. Filters joined by \`or\` form a group. A row must match at least one filter of every group. A selection with \`or\` has at most ${MAX_ALTERNATIVES} filters.`,
    schema: { type: "string", enum: FILTER_JOINS },
    repeats: true,
    example: ["or"],
  },
  per: { description: "The date column of a period.", schema: text, example: "_received_at" },
  from: {
    description: "The period's first day, in the cabinet's time zone.",
    schema: day,
    example: "2026-11-01",
  },
  to: { description: "The period's last day.", schema: day, example: "2026-11-30" },
  sort: {
    description:
      "The column to sort by, in the order of its own type. Further ones sort the rows that are equal in those before. Without it, a source's table starts with the newest row.",
    schema: oneOrMany(text),
    example: "total",
  },
  dir: {
    description:
      "The direction of the sort at the same position; `asc` where it is left out. Without `sort`, one applies to the default order.",
    schema: oneOrMany(DIRECTIONS),
    example: "desc",
  },
  col: { description: "Exactly these columns, in this order.", schema: text, repeats: true },
  order: { description: "Without `col`: these columns first.", schema: text, repeats: true },
  hide: { description: "Without `col`: all columns except these.", schema: text, repeats: true },
  limit: LIMIT_PARAMETER,
  cursor: CURSOR_PARAMETER,
}

/** The parameters of a selection: those of a page of rows in any form. */
export const SELECTION_PARAMETERS: ReadonlyArray<QueryParameter> = Object.entries(PARAMETERS).map(
  ([name, parameter]) => ({
    name,
    ...parameter,
  }),
)

const SAFE: QueryParameter = {
  name: "safe",
  description:
    "`spreadsheet`: in CSV, a text that a spreadsheet would run as a formula gets an apostrophe in front. Other forms stay as they are.",
  schema: { type: "string", enum: ["spreadsheet"] },
}

export const listRows: Endpoint = {
  id: "listRows",
  tag: "Tables",
  path: "/api/v1/tables/{schema}/{name}/rows",
  summary: "Rows of a table or view",
  description:
    "Rows by a selection: search, filters (one of each group must hold), a period, sorts, a choice of columns. While `has_more` is true, repeat the request with `next_cursor` as `cursor` and all other parameters unchanged. With `text/csv` or `application/x-ndjson` in `Accept` the page comes in that form, and the address of the next page in `Link`.",
  pathParameters: TABLE_PATH,
  query: [...SELECTION_PARAMETERS, SAFE],
  response: {
    description: "A page of rows with their columns. It may be shorter than `limit` even if `has_more` is true.",
    schema: ref("RowPage"),
    example: {
      data: [{ _event_id: 10417, total: 12.5 }],
      has_more: false,
      next_cursor: null,
      columns: COLUMN_EXAMPLES,
    },
  },
  forms: ["text/csv", "application/x-ndjson"],
  errors: [
    "bad_limit",
    "bad_cursor",
    "bad_filter",
    "bad_fo",
    "bad_fv",
    "bad_dir",
    "bad_period",
    "unknown_column",
    "bad_columns",
    "bad_selection",
    "no_such_table",
    "table_busy",
    "query_failed",
    "query_timeout",
  ],
}

/** A table's columns are the same object as long as the table does not change. */
const written = new WeakMap<ReadonlyArray<Column>, string>()

/** The columns of a page as JSON text. */
export const columnsJson = (columns: ReadonlyArray<Column>): string => {
  const known = written.get(columns)
  if (known !== undefined) return known
  const json = JSON.stringify(columns.map(columnShape.json))
  written.set(columns, json)
  return json
}

/** Whether `safe` was sent, or why the parameter is refused. */
const safety = (query: KeyedRequest["query"]): Result.Result<boolean, SelectionError> => {
  const [first, ...others] = query.flatMap(([name, value]) => (name === SAFE.name ? [value] : []))
  if (first === undefined) return Result.succeed(false)
  if (others.length > 0) return Result.fail(selectionError("bad_selection", SAFE.name, "safe may be sent only once."))
  return first === "spreadsheet"
    ? Result.succeed(true)
    : Result.fail(selectionError("bad_selection", SAFE.name, `safe must be spreadsheet, not ${shown(first)}.`))
}

interface FormOptions {
  readonly format: TextFormat
  readonly safeForSpreadsheets: boolean
}

const otherForm = (page: RowsPage, query: KeyedRequest["query"], options: FormOptions): OtherForm => {
  const { contentType, head, row } = rowText(options.format, options)
  return {
    contentType,
    bytes: Buffer.from(head(page.columns) + page.items.texts().map(row).join("")),
    next: page.nextCursor === null ? null : nextAddress(query, page.nextCursor),
  }
}

/** Relative to the request's own address, independent of proxies and programs in front. */
const nextAddress = (query: KeyedRequest["query"], cursor: string): string => {
  const others = query.filter(([name]) => name !== "cursor")
  const pairs = [...others, ["cursor", cursor] as const]
  return `?${pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")}`
}

/**
 * From the head of a request for rows to its response, in milliseconds. Longer only if a setting lets queries take longer.
 */
export const RowsDeadline = Context.Reference<number>("@data-cabinet/http-node/row/RowsDeadline", {
  defaultValue: () => DEADLINE_MILLIS,
})

export const rowRoutes = Effect.gen(function* () {
  const rows = yield* SelectRows
  return [
    yield* endpointRoute(
      listRows,
      async ({ path: [schema, name], query, scope, form }, call) => {
        const safe = safety(query)
        if (Result.isFailure(safe)) return Result.fail(safe.failure)
        const params = query.filter(([one]) => one !== SAFE.name)
        const read = await rows.page({ schema: schema!, name: name!, params, scope }, call)
        return Result.map(read, (page) => {
          if (form !== null) {
            const format = form === "text/csv" ? "csv" : "ndjson"
            return otherForm(page, query, { format, safeForSpreadsheets: safe.success })
          }
          const { items, hasMore, nextCursor, columns } = page
          return pageBody(
            items,
            `"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)},"columns":${columnsJson(columns)}`,
          )
        })
      },
      { deadline: yield* RowsDeadline, besideKey: true },
    ),
  ]
})
