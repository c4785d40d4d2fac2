/** The screen of one import, and the acts that cancel or undo it. */
import { Imports } from "@data-cabinet/core/file/Imports"
import { Sources } from "@data-cabinet/core/source/Sources"
import { manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { may } from "../html/Shell.ts"
import { act, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { importScreen } from "./ImportScreen.ts"

const path = "/console/files/{id}" as const

export const importScreens = Effect.gen(function* () {
  const imports = yield* Imports
  const sources = yield* Sources
  const { timeZone } = yield* ConsoleSettings
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path,
      action: "import.read",
      get: Effect.fnUntraced(function* ({ frame, path: [id], pairs }) {
        const status = yield* imports.get(idOf(id))
        const source = (yield* sources.list).find((one) => one.id === status.sourceId) ?? null
        const isUndone = status.undo !== null
        const isOpen = status.state !== "done" && status.cancelledAt === null
        const isCancellable = may(frame, "source.change") && !isUndone && isOpen
        const isUndoable =
          may(frame, "event.trash") &&
          status.channel === "file" &&
          !isUndone &&
          (status.state === "done" || status.state === "failed")
        const isAsked = isUndoable && pairs.some(([name]) => name === "undo")
        const undo = isAsked
          ? yield* Effect.catchTag(imports.tryUndo(status.id), "FileError", (error) =>
              Effect.succeed(manageErrorOf(error)),
            )
          : null
        return { screen: importScreen(frame, { status, source, timeZone, isCancellable, isUndoable, undo }) }
      }),
    },
    act({
      path: `${path}/cancel`,
      action: "source.change",
      home: ([id]) => `files/${id}`,
      // Repeating the form does nothing: the import is cancelled already.
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(imports.cancel(idOf(id)), null),
    }),
    act({
      path: `${path}/undo`,
      action: "event.trash",
      home: ([id]) => `files/${id}`,
      // Repeating the form does nothing: the import is undone already.
      repeat: "allowed",
      respond: ({ path: [id] }) => Effect.as(imports.undo(idOf(id)), null),
    }),
  ]
  return screens
})
