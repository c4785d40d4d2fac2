/** `cabinet table latest SCHEMA.NAME --key COLUMN`: a view of the latest row by key. */
import { LatestViews } from "@data-cabinet/core/row/LatestViews"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { report } from "../output/Report.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withCabinet } from "./Root.ts"

const MAX_KEYS = 32

const yes = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

export const latest = Command.make(
  "latest",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table or view, such as sources.orders")),
    keys: Flag.String("key").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription("Column that identifies a record; repeatable. Rows without a value in it are left out"),
      Flag.between(1, MAX_KEYS),
    ),
    by: Flag.String("by").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription(
        "Column that orders the rows of one record; default: _event_id, which every source table has",
      ),
      Flag.optional,
    ),
    as: Flag.String("as").pipe(
      Flag.withMetavar("SCHEMA.NAME"),
      Flag.withDescription("The view's name; default: public.NAME_latest"),
      Flag.optional,
    ),
    replace: yes("replace", "Replace an existing view, to add columns that the table has gained"),
    dryRun: yes("dry-run", "Show the SQL, and create nothing"),
  },
  ({ object, keys, by, as, replace, dryRun }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const views = yield* LatestViews
        const query = {
          ...(yield* objectNamed(object)),
          keys,
          ...(Option.isSome(by) ? { by: by.value } : {}),
          ...(Option.isSome(as) ? { view: as.value } : {}),
          replace,
        }
        const result = yield* dryRun ? views.show(query) : views.create(query)
        yield* report(yield* format, result, () =>
          result.created
            ? `${result.view} has the latest row of ${object} for each ${keys.join(", ")}.`
            : `${result.sql};`,
        )
      }),
    ),
).pipe(Command.withDescription("Create a view of the latest row by key"))
