/**
 * A list of the console as a file, page after page, with its filters: memory holds one page. The first page is read before anything
 * is sent, so that a refusal gets its own status; a later failure breaks the message, and the browser reports a failed download.
 */
import { rowText } from "@data-cabinet/core/export/RowText"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { Effect } from "effect"
import { ICONS } from "../html/Icons.ts"
import { menu } from "../html/Menu.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import type { ConsoleRefusal, Pairs, ScreenResult } from "./ConsoleScreen.ts"
import { withQuery } from "./SelectionLinks.ts"

export const LIST_FORMATS = ["csv", "ndjson"] as const
export type ListFormat = (typeof LIST_FORMATS)[number]

/** The values of a row by the names of their columns, in their order. */
export type ListRow = Readonly<Record<string, string | number | boolean | null>>

export interface ListPage<Place> {
  readonly rows: ReadonlyArray<ListRow>
  /** Null on the last page. */
  readonly next: Place | null
}

interface ListFile<Place> {
  /** Without its extension. */
  readonly name: string
  readonly format: ListFormat
  readonly columns: ReadonlyArray<string>
  readonly page: (after: Place | null) => Effect.Effect<ListPage<Place>, ConsoleRefusal>
}

/** The most exports at once in a cabinet, so that screens keep their connections. */
const MAX_EXPORTS = 2

/** Writes lists as files; the limit is for all of them together. */
export const listExports = Effect.gen(function* () {
  const context = yield* Effect.context()
  let running = 0
  const busy: ConsoleRefusal = {
    code: "busy",
    message: `${MAX_EXPORTS} exports are running already; try again when one of them has ended.`,
  }
  const pieces = async function* <Place>({ format, columns, page }: ListFile<Place>, first: ListPage<Place>) {
    // Others began since it was admitted. The response has begun, so it breaks off.
    if (running >= MAX_EXPORTS) throw new Error(busy.message)
    running++
    try {
      const { head, row } = rowText(format, { safeForSpreadsheets: true })
      if (format === "csv") yield Buffer.from(head(columns.map((name) => ({ name }))))
      for (let list = first; ;) {
        yield Buffer.from(list.rows.map((one) => row(JSON.stringify(one))).join(""))
        if (list.next === null) return
        list = await Effect.runPromiseWith(context)(page(list.next))
      }
    } finally {
      running--
    }
  }
  return Effect.fnUntraced(function* <Place>(file: ListFile<Place>): Effect.fn.Return<ScreenResult, ConsoleRefusal> {
    if (running >= MAX_EXPORTS) return yield* Effect.fail(busy)
    const first = yield* file.page(null)
    const headers = {
      "content-type": rowText(file.format).contentType,
      "content-disposition": `attachment; filename="${file.name}.${file.format}"`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    }
    return { answer: { status: 200, headers, body: pieces(file, first) } }
  })
})

/** `list`: its address below `/console/`; its files are below it. */
export const listExportMenu = (frame: Frame, list: string, pairs: Pairs): Html => {
  const { table: words } = frame.words
  return menu({
    id: "export",
    face: markup`${ICONS.export}<span>${words.exportAs}</span>`,
    body: markup`<div class="row">${LIST_FORMATS.map((format) => markup`<a class="button" href="${withQuery(consolePath(frame, `${list}/export.${format}`), pairs)}" download>${format.toUpperCase()}</a>`)}</div><p class="soft">${words.exportHint}</p>`,
  })
}
