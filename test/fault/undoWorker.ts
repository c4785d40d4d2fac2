/**
 * A process that undoes an import and reports its progress after each step: `undoWorker.ts databaseUrl importId`. After each
 * report it waits for an answer, so that its parent acts in time, however busy the machine is.
 */
import { once } from "node:events"
import { Imports } from "@data-cabinet/core/file/Imports"
import { ImportUndoStore } from "@data-cabinet/core/file/ImportUndoStore"
import { mayDrop } from "@data-cabinet/core/row/DropColumn"
import { Effect } from "effect"
import { importCabinet } from "../support/importCabinet.ts"

const [, , url, importId] = process.argv
const id = Number(importId)
const cabinet = importCabinet(url!)
process.once("disconnect", () => process.exit())
await cabinet.run(
  Effect.gen(function* () {
    const store = yield* ImportUndoStore
    yield* store.begin(id, null)
    while ((yield* store.step(id, mayDrop)) === "more") {
      const { undo } = yield* Imports.use((imports) => imports.get(id))
      const answer = once(process, "message")
      process.send?.(undo!.position)
      yield* Effect.promise(() => answer)
    }
  }),
)
await cabinet.close()
process.disconnect?.()
