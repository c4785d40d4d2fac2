/**
 * A whole selection as a file, page after page by its cursors: memory holds one page, whatever the size. Values are the
 * API's own tokens. The first page is read before anything is sent, so that a refusal gets its own status; a later
 * failure breaks the message, and the browser reports a failed download.
 */
import type { Actor } from "@data-cabinet/core/audit/Actor"
import type { ExportFormat } from "@data-cabinet/core/export/ExportFormat"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows, type RowsPage } from "@data-cabinet/core/selection/SelectRows"
import { contentTypeOf, fileEncoder } from "@data-cabinet/http-node/export/FileEncoder"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { Response } from "@data-cabinet/http-node/server/Request"
import { Effect } from "effect"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { without } from "../screen/SelectionLinks.ts"

/**
 * The most exports at once in a cabinet, so that screens keep their connections; and of one person, so that others get
 * theirs.
 */
const MAX_EXPORTS = 2
const MAX_OF_ONE = 1

/** The parameter of a download whose texts are as stored, also those that a spreadsheet would run as formulas. */
export const UNCHANGED = "unchanged"

/** The parameter of a download whose header row has the labels of the columns instead of their names. */
export const LABELS = "labels"

/**
 * Header rows with labels are for people; programs find a column by its name, because several columns may share a
 * label.
 */
export const LABELLED_FORMATS: ReadonlyArray<ExportFormat> = ["csv", "tsv", "xlsx"]

const headOf = ({ params, format }: ExportRequest, { columns }: RowsPage): RowsPage["columns"] =>
  LABELLED_FORMATS.includes(format) && params.some(([name]) => name === LABELS)
    ? columns.map((column) => ({ ...column, name: column.label }))
    : columns

const isUnchanged = (params: Pairs): boolean => params.some(([name]) => name === UNCHANGED)

const busy = (message: string): ManageError => ({ code: "busy", message })

/** The running exports, each with its receiver. */
class Running {
  readonly #whos: Array<string> = []

  /** Why this one cannot begin now; null if it can. */
  refusal(who: string): ManageError | null {
    if (this.#whos.filter((one) => one === who).length >= MAX_OF_ONE) {
      return busy("Your export before this one is still being sent.")
    }
    if (this.#whos.length < MAX_EXPORTS) return null
    return busy(`${MAX_EXPORTS} exports are running already; try again when one of them has ended.`)
  }

  begin(who: string): void {
    const refusal = this.refusal(who)
    // Others began since it was admitted. The response has begun, so it breaks off.
    if (refusal !== null) throw new Error(refusal.message)
    this.#whos.push(who)
  }

  end(who: string): void {
    this.#whos.splice(this.#whos.indexOf(who), 1)
  }
}

export interface ExportRequest {
  readonly schema: string
  readonly name: string
  readonly params: Pairs
  readonly format: ExportFormat
  readonly actor: Pick<Actor, "kind" | "id"> | null
}

export const exportRows = Effect.gen(function* () {
  const rows = yield* SelectRows
  const context = yield* Effect.context()
  const running = new Running()
  const page = ({ schema, name, params }: ExportRequest, cursor: string | null) => {
    const first = [...without(params, "cursor", "limit", UNCHANGED, LABELS), ["limit", String(MAX_LIMIT)]] as const
    const all: Pairs = cursor === null ? first : [...first, ["cursor", cursor]]
    return fromCall((call) => rows.page({ schema, name, params: all }, call))
  }
  const text = async function* (request: ExportRequest, first: RowsPage, who: string) {
    const batches = async function* () {
      for (let next: RowsPage = first; ;) {
        if (next.items.length > 0) yield next.items
        if (next.nextCursor === null) return
        next = await Effect.runPromiseWith(context)(page(request, next.nextCursor))
      }
    }
    const safeForSpreadsheets = !isUnchanged(request.params)
    const encode = fileEncoder(request.format, request.name, { safeForSpreadsheets })
    // Counted only when the body begins: a body that is never read, because its client has gone, would keep its slot.
    running.begin(who)
    try {
      yield* encode({ columns: headOf(request, first), declared: [], batches: batches() })
    } catch (error) {
      Effect.runForkWith(context)(
        Effect.logWarning(`An export of ${request.schema}.${request.name} broke off: ${String(error)}`),
      )
      throw error
    } finally {
      running.end(who)
    }
  }
  return Effect.fnUntraced(function* (request: ExportRequest) {
    const who = `${request.actor?.kind} ${request.actor?.id}`
    const refusal = running.refusal(who)
    if (refusal !== null) return yield* Effect.fail(refusal)
    const first = yield* page(request, null)
    const file = `${request.schema}.${request.name}.${request.format}`.replaceAll(/[^\w.-]/g, "_")
    const response: Response = {
      status: 200,
      headers: {
        "content-type": contentTypeOf(request.format),
        "content-disposition": `attachment; filename="${file}"`,
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      },
      body: text(request, first, who),
    }
    return { answer: response }
  })
})
