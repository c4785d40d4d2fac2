/** Imports over the management API: the state and progress of each file. Files are sent to `/upload/{source_id}`. */
import { importShape } from "@data-cabinet/core/file/ImportStore"
import { undoPreviewShape } from "@data-cabinet/core/file/ImportUndoStore"
import { Imports } from "@data-cabinet/core/file/Imports"
import { Effect } from "effect"
import { list, one, whole } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment, limitParameter } from "../manage/ManageParameters.ts"

export const manageImports = Effect.gen(function* () {
  const imports = yield* Imports
  const common = {
    tag: "Files",
    segments: [idSegment("The import's id.")],
    errors: ["no_such_import"],
    params: { no_such_import: "id" },
  } as const
  return [
    manageEndpoint({
      id: "listImports",
      tag: "Files",
      method: "GET",
      path: "/manage/v1/imports",
      summary: "Imports",
      description: "Newest first: files, and the new items of polls.",
      action: "import.read",
      parameters: [limitParameter],
      response: list(importShape, "The imports."),
      respond: ({ query: { limit = 100 } }) =>
        Effect.map(imports.list(limit), (all) => whole(all.map(importShape.json))),
    }),
    manageEndpoint({
      ...common,
      id: "getImport",
      method: "GET",
      path: "/manage/v1/imports/{id}",
      summary: "One import",
      description: "Its progress and its outcome, and how far it is undone.",
      action: "import.read",
      response: one(importShape, "The import."),
      respond: ({ path: [id] }) => Effect.map(imports.get(id), importShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "cancelImport",
      method: "POST",
      path: "/manage/v1/imports/{id}/cancel",
      summary: "Cancel an import",
      description:
        "Ends the import of a file or a poll as failed, whichever process runs it. Rows that are events by then stay; undo the import of a file to remove them. The remaining items of a poll count as new again: pause or remove the poll to keep them out. A failed import is marked as cancelled, so that `doctor` no longer lists it. Sent again, it changes nothing.",
      action: "source.change",
      response: one(importShape, "The import."),
      errors: [...common.errors, "import_done"],
      respond: ({ path: [id] }) => Effect.map(imports.cancel(id), importShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "tryUndoImport",
      method: "GET",
      path: "/manage/v1/imports/{id}/undo",
      summary: "What undoing an import would do",
      description: "How many events, rows and columns would go. Nothing is changed.",
      action: "event.trash",
      response: one(undoPreviewShape, "What would happen."),
      errors: [...common.errors, "import_running", "import_not_recorded"],
      respond: ({ path: [id] }) => Effect.map(imports.tryUndo(id), undoPreviewShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "undoImport",
      method: "POST",
      path: "/manage/v1/imports/{id}/undo",
      summary: "Undo an import",
      description:
        "Moves its events to the trash with their rows, and drops the columns that it created and that nothing else has filled. Responds within seconds; while `undo.state` is `undoing`, the rest continues by itself. Sent again, it changes nothing more.",
      action: "event.trash",
      response: one(importShape, "The import, and how far it is undone."),
      errors: [...common.errors, "import_running", "import_not_recorded"],
      respond: ({ path: [id] }) => Effect.map(imports.undo(id), importShape.json),
    }),
  ]
})
