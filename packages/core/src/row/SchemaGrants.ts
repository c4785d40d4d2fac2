/**
 * Grants and revokes the reader's access to schemas that existed in the database before the cabinet. Refuses the cabinet's
 * own schemas and the system's, and says what the owner of another's schema has to run.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { SchemaGrantError } from "./SchemaGrantError.ts"
import { type GrantChange, type GrantOutcome, SchemaGrantStore } from "./SchemaGrantStore.ts"
import { isSqlName } from "./SqlName.ts"

type Returns = Effect.Effect<{ readonly objects: number }, SchemaGrantError | StoreUnavailable>

/** Both return how many tables and views of the schema the reader can read now. */
export class SchemaGrants extends Context.Service<
  SchemaGrants,
  {
    /** Grants access to what is in the schema now, and to what its owner, as whom this runs, creates there later. */
    readonly expose: (schema: string) => Returns
    readonly hide: (schema: string) => Returns
  }
>()("@data-cabinet/core/row/SchemaGrants") {
  static readonly layer = Layer.effect(
    SchemaGrants,
    Effect.map(SchemaGrantStore, (store) => {
      const change = (what: GrantChange) => (schema: string) => {
        if (isOurs(schema)) {
          return refuse(
            "not_for_readers",
            `The schema ${schema} belongs to the cabinet or to PostgreSQL: its privileges cannot be changed.`,
          )
        }
        if (!isSqlName(schema)) return noSuchSchema(schema)
        return Effect.flatMap(store.change(what, schema), (outcome) => result(what, schema, outcome))
      }
      return SchemaGrants.of({ expose: change("expose"), hide: change("hide") })
    }),
  )
}

const isOurs = (schema: string) => /^(cabinet|sources|information_schema|pg_.*)$/.test(schema)

const refuse = (code: SchemaGrantError["code"], message: string) => Effect.fail(new SchemaGrantError({ code, message }))

const noSuchSchema = (schema: string) =>
  refuse("no_such_schema", `The database has no schema ${JSON.stringify(schema)}.`)

const notMine = (schema: string, why: string, statements: ReadonlyArray<string>) =>
  refuse(
    "no_right",
    `The tables of ${schema} belong to another role (${why}). Let their owner run: ${statements.slice(0, 2).join("; ")};`,
  )

const result = (what: GrantChange, schema: string, outcome: GrantOutcome): Returns => {
  switch (outcome.is) {
    case "no_schema":
      return noSuchSchema(schema)
    case "no_reader":
      return refuse("no_reader", `There is no reader role ${outcome.role}; \`cabinet doctor\` says why.`)
    case "denied":
      return notMine(schema, outcome.detail, outcome.statements)
    case "changed": {
      const { objects, readable, statements } = outcome
      const left = what === "expose" ? objects - readable : readable
      if (left > 0 && left === objects) {
        return notMine(schema, `${left} of ${objects} could not be changed`, statements)
      }
      return Effect.succeed({ objects: readable })
    }
  }
}
