/**
 * `cabinet schema add NAME`: a schema for the author. `cabinet schema expose SCHEMA` and `cabinet schema hide SCHEMA`:
 * grants and revokes readers' access to existing schemas of the database.
 */
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { report } from "../output/Report.ts"
import { format, withCabinet } from "./Root.ts"
import { EXAMPLES } from "./Examples.ts"

const schema = Argument.String("SCHEMA").pipe(Argument.withDescription("A schema of the database"))

const expose = Command.make("expose", { schema }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { objects } = yield* SchemaGrants.use((grants) => grants.expose(input.schema))
      const words = `${objects} tables and views of ${input.schema} are now readable through the API, as will be those created there later.`
      yield* report(yield* format, { schema: input.schema, exposed: true, objects }, () => words)
    }),
  ),
).pipe(Command.withDescription("Make an existing schema readable through the API"))

const hide = Command.make("hide", { schema }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { objects } = yield* SchemaGrants.use((grants) => grants.hide(input.schema))
      const words = `Nothing of ${input.schema} is readable through the API any more.`
      yield* report(yield* format, { schema: input.schema, exposed: false, objects }, () => words)
    }),
  ),
).pipe(Command.withDescription("Revoke the API's access to a schema that was exposed"))

const add = Command.make(
  "add",
  { name: Argument.String("NAME").pipe(Argument.withDescription("The new schema's name")) },
  ({ name }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const { author } = yield* SchemaGrants.use((grants) => grants.add(name))
        const words = `The schema ${name} belongs to the author: \`cabinet sql\` can create tables and views in it, which can be read through the API.`
        yield* report(yield* format, { schema: name, author }, () => words)
      }),
    ),
).pipe(Command.withDescription("Create a schema for tables and views of `cabinet sql`"))

export const schemaCommand = Command.make("schema").pipe(
  Command.withExamples(EXAMPLES.schema),
  Command.withDescription("Create a schema for the author; expose existing ones to the API, or hide them"),
  Command.withSubcommands([add, expose, hide]),
)
