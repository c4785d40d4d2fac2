/** How a user names a table or view: by its schema and name. */
import { Effect } from "effect"
import { CommandError } from "../error/CommandError.ts"

/** The first dot is the separator: a schema with a dot in its name cannot be given here. */
export const objectNamed = (
  object: string,
): Effect.Effect<{ readonly schema: string; readonly name: string }, CommandError> => {
  const dot = object.indexOf(".")
  if (dot < 1 || dot === object.length - 1) {
    const message = "The table name must include its schema, such as sources.orders or public.report."
    return Effect.fail(new CommandError({ code: "usage", message }))
  }
  return Effect.succeed({ schema: object.slice(0, dot), name: object.slice(dot + 1) })
}
