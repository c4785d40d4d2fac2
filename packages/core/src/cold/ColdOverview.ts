/** The state of cold history: which files there are, and how the work is going. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { ColdFiles } from "./ColdFiles.ts"
import { type ColdProgress, ColdStore, type ListedFile } from "./ColdStore.ts"

/** A file, and whether its rows are gone. Times are RFC 3339. */
export interface ShownFile extends Pick<ListedFile, "events" | "bytes" | "from" | "to" | "emptied"> {
  readonly name: string
}

/** The state of cold history. */
export interface ColdStatus extends ColdProgress {
  /** Where this process has its files; null if it has no place for them. */
  readonly location: string | null
  readonly files: ReadonlyArray<ShownFile>
  readonly events: number
  readonly bytes: number
}

/** The file's JSON and its description. */
const fileShape = Shape.named(
  "ColdFile",
  Shape.object<ShownFile>("A file of old events.", {
    name: Shape.text("Its name."),
    events: Shape.whole("How many events it has."),
    bytes: Shape.whole("Its size."),
    from: Shape.time("When the first of them was received."),
    to: Shape.time("When the last of them was received."),
    emptied: Shape.flag("Whether the rows of its events were deleted, but for those that had to stay."),
  }),
)

/** The status's JSON and its description. */
export const coldStatusShape = Shape.named(
  "ColdStatus",
  Shape.object<ColdStatus>("Events that have moved out of the database, into files.", {
    location: Shape.orNull(Shape.text("Where the files are; null if this process has no place for them.")),
    files: Shape.list(fileShape),
    events: Shape.whole("How many events are in files."),
    bytes: Shape.whole("The size of all files."),
    workedAt: Shape.orNull(Shape.time("When the last round ended; null before the first.")),
    failures: Shape.whole("Rounds in a row that failed."),
    error: Shape.orNull(Shape.text("Why the last round failed; null if it did not.")),
  }),
)

/** The files that have events. Those without a name had theirs brought back for good. */
export const named = (files: ReadonlyArray<ListedFile>) =>
  files.flatMap((file) => (file.name === null ? [] : [{ ...file, name: file.name }]))

export class ColdOverview extends Context.Service<
  ColdOverview,
  { readonly status: Effect.Effect<ColdStatus, StoreUnavailable> }
>()("@data-cabinet/core/cold/ColdOverview") {
  static readonly layer = Layer.effect(
    ColdOverview,
    Effect.gen(function* () {
      const store = yield* ColdStore
      const { location } = yield* ColdFiles
      return ColdOverview.of({
        status: Effect.gen(function* () {
          const files = named(yield* store.files).map(({ name, events, bytes, from, to, emptied }): ShownFile => {
            return { name, events, bytes, from, to, emptied }
          })
          const sum = (of: (file: ShownFile) => number) => files.reduce((total, file) => total + of(file), 0)
          const progress = yield* store.status
          const [events, bytes] = [sum((file) => file.events), sum((file) => file.bytes)]
          return { location, files, events, bytes, ...progress }
        }),
      })
    }),
  )
}
