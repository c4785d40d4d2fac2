/** `cabinet table search-index SCHEMA.NAME`: an index that makes `q` fast on a large table. */
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { report } from "../output/Report.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withCabinet } from "./Root.ts"

export const searchIndex = Command.make(
  "search-index",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table, such as sources.orders")),
    drop: Flag.Boolean("drop").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Drop the index"),
      Flag.withDefault(false),
    ),
  },
  ({ object, drop }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(object)
        const port = yield* SearchIndex
        if (drop) {
          const dropped = yield* port.drop(schema, name)
          const words = dropped === 0 ? `${object} has no search index.` : `${object}: search index dropped.`
          return yield* report(yield* format, { table: object, dropped }, () => words)
        }
        const { index, built } = yield* port.build(schema, name)
        const words = built
          ? `${object} now has the search index ${index}. Run this command again after columns are added.`
          : `${object} already has a search index on all its columns.`
        yield* report(yield* format, { table: object, index, built }, () => words)
      }),
    ),
).pipe(Command.withDescription("Create a search index for fast searches (q) on a large table"))
