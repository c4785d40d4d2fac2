/** `cabinet table index SCHEMA.NAME [COLUMN…]`: indexes that make filters and sorts fast on a large table. */
import { columnIndexShape } from "@data-cabinet/core/row/ColumnIndexStore"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns as table } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { drawProgress, stateOf } from "./IndexProgress.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withCabinet } from "./Root.ts"

const SERVES = { btree: "filters and sorts by", hash: "filters by eq of" } as const

export const tableIndex = Command.make(
  "index",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table, such as sources.orders")),
    columns: Argument.String("COLUMN").pipe(
      Argument.withDescription(
        "Up to three columns, in the order in which they are filtered or sorted; default: list the indexes",
      ),
      Argument.variadic(),
    ),
    drop: Flag.String("drop").pipe(
      Flag.withMetavar("INDEX"),
      Flag.withDescription("Drop an index by its name"),
      Flag.optional,
    ),
  },
  ({ object, columns, drop }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { schema, name } = yield* objectNamed(object)
        const indexes = yield* ColumnIndexes
        if (Option.isSome(drop)) {
          const dropped = yield* indexes.drop(schema, name, drop.value)
          const words = `${object}: the index ${dropped.name} is dropped.`
          return yield* report(yield* format, { table: object, dropped: columnIndexShape.json(dropped) }, () => words)
        }
        if (columns.length === 0) {
          const all = yield* indexes.list(schema, name)
          return yield* report(yield* format, all.map(columnIndexShape.json), (style) =>
            table(
              ["INDEX", "COLUMNS", "KIND", "STATE", "SIZE", "USED"],
              all.map((one) => [one.name, one.columns.join(", "), one.method, ...stateOf(one)]),
              { style, none: "No index was created here. Create one with: cabinet table index SCHEMA.NAME COLUMN" },
            ),
          )
        }
        yield* drawProgress(indexes.list(schema, name))
        const state = yield* indexes.build(schema, name, columns)
        const words = state.built
          ? `${object} now has the index ${state.index}, for ${SERVES[state.method]} ${columns.join(", ")}.`
          : `${object} already has the index ${state.index}, for ${SERVES[state.method]} ${columns.join(", ")}.`
        yield* report(yield* format, { table: object, ...state }, () => words)
      }).pipe(Effect.scoped),
    ),
).pipe(Command.withDescription("Create, list or drop indexes for fast filters and sorts on a large table"))
