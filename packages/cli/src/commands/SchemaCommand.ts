/**
 * `cabinet schema expose SCHEMA` and `cabinet schema hide SCHEMA`: which schemas that existed in the database before
 * readers may see.
 */
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { report } from "../output/Report.ts"
import { format, withCabinet } from "./Root.ts"

const schema = Argument.String("SCHEMA").pipe(Argument.withDescription("A schema of the database"))

const expose = Command.make("expose", { schema }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { objects } = yield* SchemaGrants.use((grants) => grants.expose(input.schema))
      const words = `${objects} tables and views of ${input.schema} can be read through the API now, and what is made there later.`
      yield* report(yield* format, { schema: input.schema, exposed: true, objects }, () => words)
    }),
  ),
).pipe(Command.withDescription("Let the API read a schema that stood there before"))

const hide = Command.make("hide", { schema }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { objects } = yield* SchemaGrants.use((grants) => grants.hide(input.schema))
      const words = `Nothing of ${input.schema} can be read through the API any more.`
      yield* report(yield* format, { schema: input.schema, exposed: false, objects }, () => words)
    }),
  ),
).pipe(Command.withDescription("Take a schema that was opened with expose away from the API again"))

export const schemaCommand = Command.make("schema").pipe(
  Command.withDescription("Open schemas that were in the database before to the API, and close them"),
  Command.withSubcommands([expose, hide]),
)
