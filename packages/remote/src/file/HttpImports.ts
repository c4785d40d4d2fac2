/** The imports of a remote cabinet. Its server undoes them. */
import { FileError } from "@data-cabinet/core/file/FileError"
import { Imports, type UndoPreview } from "@data-cabinet/core/file/Imports"
import type { ImportStatus } from "@data-cabinet/core/file/ImportStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusalAsDefect, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(FileError)

type Sent = Omit<ImportStatus, "name" | "staged" | "channel" | "doubts"> & {
  readonly file: string
  readonly rows: number
  /** Missing from a server of an earlier version. */
  readonly doubts?: ImportStatus["doubts"]
}

const statusOf = ({ file: name, rows: staged, doubts = [], ...sent }: Sent): ImportStatus => ({
  ...sent,
  doubts,
  name,
  staged,
  channel: "file",
})

export const layer = Layer.effect(
  Imports,
  Effect.map(ManageApi, (api) => {
    const get = (id: number) =>
      Effect.map(refusedAs(api.json<Sent>({ method: "GET", path: ["imports", id] }), known), statusOf)
    return Imports.of({
      list: (limit) =>
        Effect.map(
          refusalAsDefect(api.list<Sent>({ method: "GET", path: ["imports"], query: [["limit", String(limit)]] })),
          (all) => all.map(statusOf),
        ),
      get,
      cancel: (id) =>
        Effect.map(
          refusedAs(api.json<Sent>({ method: "POST", path: ["imports", id, "cancel"], body: {} }), known),
          statusOf,
        ),
      tryUndo: (id) => refusedAs(api.json<UndoPreview>({ method: "GET", path: ["imports", id, "undo"] }), known),
      undo: (id) =>
        Effect.map(
          refusedAs(api.json<Sent>({ method: "POST", path: ["imports", id, "undo"], body: {} }), known),
          statusOf,
        ),
      // The server continues by itself.
      continueUndo: get,
      continueAll: Effect.void,
    })
  }),
)
