/**
 * A whole selection as a file, page after page by its cursors: memory holds one page, whatever the size. Values are the API's
 * own tokens. The first page is read before anything is sent, so that what is refused is refused with its status; whatever
 * fails later breaks the message, and the browser says that the download failed.
 */
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows, type RowsPage } from "@data-cabinet/core/selection/SelectRows"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { Response } from "@data-cabinet/http-node/server/Request"
import { Effect } from "effect"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { cellTokens, shownText } from "./CellTokens.ts"
import { without } from "./SelectionLinks.ts"

export const EXPORT_FORMATS = ["csv", "ndjson"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** So many at once in a cabinet, so that the screens keep their connections. */
const MAX_EXPORTS = 2

/** As RFC 4180 has it. An empty text is quoted, so that it differs from no value. */
const csvField = (token: string): string => {
  const text = shownText(token)
  if (token === "null") return ""
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const WRITERS: Readonly<
  Record<ExportFormat, { type: string; head: (page: RowsPage) => string; row: (row: string) => string }>
> = {
  csv: {
    type: "text/csv; charset=utf-8; header=present",
    head: ({ columns }) => `${columns.map(({ name }) => csvField(JSON.stringify(name))).join(",")}\r\n`,
    row: (row) => `${cellTokens(row).map(csvField).join(",")}\r\n`,
  },
  ndjson: { type: "application/x-ndjson", head: () => "", row: (row) => `${row}\n` },
}

const tooMany: ManageError = {
  code: "busy",
  message: `${MAX_EXPORTS} exports are running already; try again when one of them has ended.`,
}

export interface ExportRequest {
  readonly schema: string
  readonly name: string
  readonly params: Pairs
  readonly format: ExportFormat
}

export const exportRows = Effect.gen(function* () {
  const rows = yield* SelectRows
  const context = yield* Effect.context()
  let running = 0
  const page = ({ schema, name, params }: ExportRequest, cursor: string | null) => {
    const first = [...without(params, "cursor", "limit"), ["limit", String(MAX_LIMIT)]] as const
    const all: Pairs = cursor === null ? first : [...first, ["cursor", cursor]]
    return fromCall((call) => rows.page({ schema, name, params: all }, call))
  }
  const text = async function* (request: ExportRequest, first: RowsPage) {
    const { head, row } = WRITERS[request.format]
    running++
    try {
      yield Buffer.from(head(first))
      for (let next: RowsPage | null = first; next !== null;) {
        yield Buffer.from(next.items.texts().map(row).join(""))
        const { nextCursor }: RowsPage = next
        next = nextCursor === null ? null : await Effect.runPromiseWith(context)(page(request, nextCursor))
      }
    } catch (error) {
      Effect.runForkWith(context)(
        Effect.logWarning(`An export of ${request.schema}.${request.name} broke off: ${String(error)}`),
      )
      throw error
    } finally {
      running--
    }
  }
  return Effect.fnUntraced(function* (request: ExportRequest) {
    if (running >= MAX_EXPORTS) return yield* Effect.fail(tooMany)
    const first = yield* page(request, null)
    const file = `${request.schema}.${request.name}.${request.format}`.replaceAll(/[^\w.-]/g, "_")
    const response: Response = {
      status: 200,
      headers: {
        "content-type": WRITERS[request.format].type,
        "content-disposition": `attachment; filename="${file}"`,
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      },
      body: text(request, first),
    }
    return { answer: response }
  })
})
