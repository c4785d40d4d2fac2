/** `cabinet event trash` and `restore`: deletes events, until they are restored. */
import { Trash } from "@data-cabinet/core/event/Trash"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { counted } from "@data-cabinet/core/text/Counted"
import { report } from "../output/Report.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { idArgument, format, withCabinet } from "./Root.ts"

const source = sourceArgument()
const events = idArgument("EVENT", "Event numbers").pipe(Argument.atLeast(1))

export const trash = Command.make("trash", { source, events }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const sourceId = yield* sourceNamed(input.source)
      const trashed = yield* Trash.use((port) => port.trash(sourceId, input.events))
      const words = `${counted(trashed, "event")} moved to the trash: rows deleted, deliveries cancelled, deleted_at set in the feed. Undo with: cabinet event restore ${[sourceId, ...input.events].join(" ")}`
      yield* report(yield* format, { source_id: sourceId, trashed }, () => words)
    }),
  ),
).pipe(Command.withDescription("Move events of a source to the trash and delete their rows; can be undone"))

export const restore = Command.make("restore", { source, events }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const sourceId = yield* sourceNamed(input.source)
      const restored = yield* Trash.use((port) => port.untrash(sourceId, input.events))
      const words = `${counted(restored, "event")} restored: the rows are back, cancelled deliveries stay cancelled, and what was spam is delivered as a new event.`
      yield* report(yield* format, { source_id: sourceId, restored }, () => words)
    }),
  ),
).pipe(Command.withDescription("Restore events and their rows from the trash, or events marked as spam"))
