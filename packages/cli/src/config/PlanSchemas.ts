/** The schemas of a file, which the API reads. */
import { type SchemaGrantError, SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { Effect } from "effect"
import type { Entry } from "./FileSchema.ts"
import { pairUp, repeated, type SectionPlan, type Step } from "./Step.ts"

const step = (action: Step["action"], name: string, run: Step["run"]): Step => ({
  section: "schemas",
  action,
  name,
  fields: [],
  run,
})

const isMissing = ({ code }: SchemaGrantError) => code === "no_such_schema"

/** Exposes the schema, and creates it for the author if the database does not have it. */
const exposed = (name: string) =>
  SchemaGrants.use((grants) =>
    Effect.catchTag(grants.expose(name), "SchemaGrantError", (error) =>
      isMissing(error) ? Effect.asVoid(grants.add(name)) : Effect.fail(error),
    ),
  )

/** The steps for the schemas of a file. One that the file does not name is hidden, and never dropped. */
export const planSchemas = (entries: ReadonlyArray<Entry<"schemas">>, current: ReadonlyArray<string>): SectionPlan => {
  const nameOf = ({ name }: Entry<"schemas">) => name
  const { pairs, left } = pairUp("schemas", entries, current, { ofEntry: nameOf, ofObject: (name) => name })
  const added = pairs.filter(({ object }) => object === null)
  return {
    steps: added.map(({ entry: { name } }) => step("create", name, () => exposed(name))),
    removals: left.map((name) => step("remove", name, () => SchemaGrants.use((grants) => grants.hide(name)))),
    unchanged: pairs.length - added.length,
    problems: repeated("schemas", entries, nameOf),
  }
}
