/** Undoes an import completely, for callers that wait for it. */
import { Effect } from "effect"
import { Imports } from "./Imports.ts"
import type { ImportStatus } from "./ImportStore.ts"

/** The pause while another process undoes it, or a table is locked. */
const PAUSE = "250 millis"

export const undoWhole = Effect.fnUntraced(function* (
  id: number,
  onProgress: (status: ImportStatus) => Effect.Effect<void> = () => Effect.void,
) {
  const imports = yield* Imports
  let status = yield* imports.undo(id)
  while (status.undo?.state === "undoing") {
    yield* onProgress(status)
    const { position } = status.undo
    status = yield* imports.continueUndo(id)
    if (status.undo?.position === position) yield* Effect.sleep(PAUSE)
  }
  return status
})
