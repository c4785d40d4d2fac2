/** `cabinet table search-index SCHEMA.NAME`: an index that makes `q` fast on a large table. */
import { type FoundSearchIndex, SearchIndex, searchIndexShape } from "@data-cabinet/core/row/SearchIndex"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { drawProgress, stateOf } from "./IndexProgress.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withCabinet } from "./Root.ts"

const coverage = ({ valid, complete }: FoundSearchIndex) => (complete ? "all" : valid ? "not the newest" : "")

export const searchIndex = Command.make(
  "search-index",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table, such as sources.orders")),
    list: Flag.Boolean("list").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show the index, and how much of it is built"),
      Flag.withDefault(false),
    ),
    drop: Flag.Boolean("drop").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Drop the index"),
      Flag.withDefault(false),
    ),
  },
  ({ object, list, drop }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(object)
        const port = yield* SearchIndex
        if (list && drop)
          return yield* new CommandError({ code: "usage", message: "--list and --drop exclude each other." })
        if (list) {
          const all = yield* port.list(schema, name)
          return yield* report(yield* format, all.map(searchIndexShape.json), (style) =>
            columns(
              ["INDEX", "STATE", "SIZE", "USED", "COLUMNS"],
              all.map((one) => [one.name, ...stateOf(one), coverage(one)]),
              { style, none: `${object} has no search index.` },
            ),
          )
        }
        if (drop) {
          const dropped = yield* port.drop(schema, name)
          const words = dropped === 0 ? `${object} has no search index.` : `${object}: search index dropped.`
          return yield* report(yield* format, { table: object, dropped }, () => words)
        }
        yield* drawProgress(port.list(schema, name))
        const { index, built } = yield* port.build(schema, name)
        const words = built
          ? `${object} now has the search index ${index}. Run this command again after columns are added.`
          : `${object} already has a search index on all its columns.`
        yield* report(yield* format, { table: object, index, built }, () => words)
      }).pipe(Effect.scoped),
    ),
).pipe(Command.withDescription("Create a search index for fast searches (q) on a large table"))
