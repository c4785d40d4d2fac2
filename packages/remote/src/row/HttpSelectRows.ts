/** The rows of a remote cabinet and their summary, digit by digit as sent. */
import { ReadError } from "@data-cabinet/core/row/ReadError"
import type { Column } from "@data-cabinet/core/row/Table"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { SelectionError } from "@data-cabinet/core/selection/SelectionError"
import { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import { Effect, Layer, type Result } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { pageOf } from "../http/PageItems.ts"
import { type RemoteRefusal, refusedAs } from "../http/RemoteRefusal.ts"

const READ_CODES: ReadonlyArray<string> = ReadError.fields.code.literals
const SELECTION_CODES: ReadonlyArray<string> = SelectionError.fields.code.literals

const known = ({ code, message, param, retryAfter }: RemoteRefusal): SelectionError | ReadError | undefined => {
  if (READ_CODES.includes(code)) return new ReadError({ code: code as ReadError["code"], message, retryAfter })
  // The object itself is at fault, which the API reports by the segment of its path.
  const at = code === "no_such_table" ? null : param
  if (SELECTION_CODES.includes(code)) {
    return new SelectionError({ code: code as SelectionError["code"], message, param: at })
  }
  return undefined
}

/** The call's own context, and its end: aborting the call ends the request. */
const runIn = <A, E>(call: AbortableCall, work: Effect.Effect<A, E>): Promise<Result.Result<A, E>> => {
  const end = new AbortController()
  const stopListening = call.onAbort(() => end.abort())
  const running = Effect.runPromiseWith(call.context)(Effect.result(work), { signal: end.signal })
  return running.finally(stopListening)
}

const summaries = Layer.effect(
  SummarizeRows,
  Effect.map(ManageApi, (api) =>
    SummarizeRows.of({
      summary: ({ schema, name, params }, column) => {
        const query = column === undefined ? params : [...params, ["column", column] as const]
        const path = ["tables", schema, name, "summary"]
        return Effect.map(refusedAs(api.text({ method: "GET", path, query }), known), (text) => text.trimEnd())
      },
    }),
  ),
)

const pages = Layer.effect(
  SelectRows,
  Effect.map(ManageApi, (api) =>
    SelectRows.of({
      page: ({ schema, name, params }, call) =>
        runIn(
          call,
          Effect.map(
            refusedAs(api.text({ method: "GET", path: ["tables", schema, name, "rows"], query: params }), known),
            (text) => {
              const { members, ...page } = pageOf(text)
              return { ...page, columns: JSON.parse(members.get("columns") ?? "[]") as ReadonlyArray<Column> }
            },
          ),
        ),
    }),
  ),
)

export const layer = Layer.merge(pages, summaries)
