/**
 * Lists the imports of a cabinet, cancels one, and undoes one as a whole. The events of an undone import go to the
 * trash with their rows, and can be restored. Columns that only this import filled are dropped. Refuses to undo an
 * import that has not ended.
 */
import { Clock, Context, Effect, Layer, Option, Semaphore } from "effect"
import { CurrentActor } from "../audit/Actor.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { mayDrop } from "../row/DropColumn.ts"
import { type FileError, fileError, noSuchImport } from "./FileError.ts"
import { type ImportStatus, ImportStore } from "./ImportStore.ts"
import { type NotUndoable, ImportUndoStore, type UndoPreview } from "./ImportUndoStore.ts"

export type { UndoPreview }

type Returns<A> = Effect.Effect<A, FileError | StoreUnavailable>

/** A call ends after this time; the rest of the undo continues in the background, or with the next call. */
const STRETCH_MILLIS = 2_000

export class Imports extends Context.Service<
  Imports,
  {
    /** Newest first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<ImportStatus>, StoreUnavailable>
    readonly get: (id: number) => Returns<ImportStatus>
    /**
     * Ends an import as failed, whichever process runs it; the accepted rows stay events. Refuses an import that is done.
     * Cancelling a cancelled import changes nothing.
     */
    readonly cancel: (id: number) => Returns<ImportStatus>
    /** Reports what `undo` would do; changes nothing. */
    readonly tryUndo: (id: number) => Returns<UndoPreview>
    /**
     * Begins to undo an import, and returns its progress after a few seconds at most. Every process that serves the
     * cabinet continues a begun undo. Undoing an undone import changes nothing.
     */
    readonly undo: (id: number) => Returns<ImportStatus>
    /** Continues a begun undo, for a few seconds at most. */
    readonly continueUndo: (id: number) => Returns<ImportStatus>
    /** Continues all begun undos until they are complete. */
    readonly continueAll: Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/file/Imports") {
  static readonly layer = Layer.effect(
    Imports,
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const store = yield* ImportUndoStore
      // A count scans the whole table: however many are requested, others keep their sessions.
      const counting = Semaphore.makeUnsafe(1)
      const get = (id: number) =>
        Effect.flatMap(imports.status(id), (found) =>
          Option.isSome(found) ? Effect.succeed(found.value) : Effect.fail(noSuchImport(id)),
        )
      const proceed = Effect.fnUntraced(function* (id: number, until: number) {
        while ((yield* store.step(id, mayDrop)) === "more") {
          if ((yield* Clock.currentTimeMillis) >= until) return
        }
      })
      const stretch = (id: number) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.andThen(proceed(id, now + STRETCH_MILLIS), get(id)))
      return Imports.of({
        list: imports.list,
        get,
        cancel: Effect.fnUntraced(function* (id) {
          const outcome = yield* imports.cancel(id)
          if (outcome === "missing") return yield* noSuchImport(id)
          if (outcome === "done") return yield* importDone(id)
          return yield* get(id)
        }),
        tryUndo: (id) =>
          Effect.flatMap(counting.withPermit(store.preview(id, mayDrop)), (found) =>
            "is" in found ? Effect.fail(notUndoable(id, found)) : Effect.succeed(found),
          ),
        undo: Effect.fnUntraced(function* (id) {
          const refused = yield* store.begin(id, yield* CurrentActor)
          return refused === null ? yield* stretch(id) : yield* notUndoable(id, refused)
        }),
        continueUndo: stretch,
        continueAll: Effect.flatMap(store.open, (ids) =>
          Effect.forEach(ids, (id) => proceed(id, Number.POSITIVE_INFINITY), { discard: true }),
        ),
      })
    }),
  )
}

const importDone = (id: number): FileError =>
  fileError("import_done", `Import ${id} is done: all its rows are events. It can be undone, but not cancelled.`)

const notUndoable = (id: number, why: NotUndoable): FileError => {
  switch (why.is) {
    case "missing":
      return noSuchImport(id)
    case "running":
      return fileError(
        "import_running",
        `Import ${id} is not at its end: ${why.accepted} of ${why.staged} rows are accepted. Undo it once it is done, or cancel it first.`,
      )
    case "unrecorded":
      return fileError(
        "import_not_recorded",
        `Import ${id} cannot be undone as one: an earlier version accepted it without recording which events it made. Trash its events instead.`,
      )
  }
}
