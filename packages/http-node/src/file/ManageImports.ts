/** Imports over the management API: what became of each file, and how far it is. Files are sent to `/upload/{source_id}`. */
import { noSuchImport } from "@data-cabinet/core/file/FileError"
import { importStatusJson } from "@data-cabinet/core/file/ImportJson"
import { ImportStore } from "@data-cabinet/core/file/ImportStore"
import { Effect, Option } from "effect"
import { list, one, whole } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment, limitParameter } from "../manage/ManageParameters.ts"

export const manageImports = Effect.gen(function* () {
  const imports = yield* ImportStore
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
      response: list("Import", "The imports."),
      respond: ({ query: { limit = 100 } }) =>
        Effect.map(imports.list(limit), (all) => whole(all.map(importStatusJson))),
    }),
    manageEndpoint({
      id: "getImport",
      tag: "Files",
      method: "GET",
      path: "/manage/v1/imports/{id}",
      summary: "One import",
      description: "Its progress and its outcome.",
      action: "import.read",
      segments: [idSegment("The import's id.")],
      response: one("Import", "The import."),
      errors: ["no_such_import"],
      params: { no_such_import: "id" },
      respond: ({ path: [id] }) =>
        Effect.flatMap(imports.status(id), (found) =>
          Option.isSome(found) ? Effect.succeed(importStatusJson(found.value)) : Effect.fail(noSuchImport(id)),
        ),
    }),
  ]
})
