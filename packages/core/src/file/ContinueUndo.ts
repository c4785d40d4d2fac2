/** Undoes imports to their end: for a caller that waits for it, and in the background. */
import { Effect, Layer } from "effect"
import { Imports } from "./Imports.ts"
import type { ImportStatus } from "./ImportStore.ts"
import { background } from "../runtime/Background.ts"

/** The pause while another process undoes it, or a table is locked. */
const PAUSE = "250 millis"

/** Undoes an import completely, for callers that wait for it. */
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

/** Continues undos of imports in every serving process, so that an undo continues after its process is lost. */
export const continuedUndos = Layer.effectDiscard(
  Effect.flatMap(Imports, ({ continueAll }) => background("import undo", "2 seconds", continueAll)),
)
