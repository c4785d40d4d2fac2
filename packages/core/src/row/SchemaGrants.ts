/**
 * Grants and revokes the reader's access to schemas that existed in the database before the cabinet, and creates
 * schemas for the author. Authors may not create schemas themselves, because PostgreSQL's right to do so includes
 * creating extensions, which can put functions into any role's schema. Refuses the cabinet's own schemas and the
 * system's, and names the statements that the owner of any other schema must run.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type AddOutcome, type GrantChange, type GrantOutcome, SchemaGrantStore } from "./SchemaGrantStore.ts"
import { isSqlName } from "./SqlName.ts"

/**
 * `no_such_schema`: the database has no schema of this name. `not_for_readers`: the schema is the cabinet's own or the
 * system's. `no_right`: the schema has another owner, who alone can grant access; the message has the SQL to run.
 * `no_reader`: the reader role does not exist. `schema_exists`: a schema of this name exists already. `no_author`: the
 * author role, which would own it, does not exist.
 */
export class SchemaGrantError extends Schema.TaggedError<SchemaGrantError>()("SchemaGrantError", {
  code: Schema.Literals(["no_such_schema", "not_for_readers", "no_right", "no_reader", "schema_exists", "no_author"]),
  message: Schema.String,
}) {}

type Returns = Effect.Effect<{ readonly objects: number }, SchemaGrantError | StoreUnavailable>

/** Both return how many tables and views of the schema the reader can currently read. */
export class SchemaGrants extends Context.Service<
  SchemaGrants,
  {
    /** Grants access to the schema's current objects, and to future ones of its owner, as whom the statements run. */
    readonly expose: (schema: string) => Returns
    readonly hide: (schema: string) => Returns
    /** Creates a schema that belongs to the author, and returns the role that owns it. */
    readonly add: (schema: string) => Effect.Effect<{ readonly author: string }, SchemaGrantError | StoreUnavailable>
    /** The schemas that readers may use, by name, without the cabinet's own. */
    readonly list: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
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
      const add = (schema: string) => {
        if (isOurs(schema) || schema === "public") {
          return refuse("not_for_readers", `The name ${schema} is the cabinet's or PostgreSQL's: choose another one.`)
        }
        if (!isSqlName(schema)) {
          return refuse(
            "not_for_readers",
            `${JSON.stringify(schema)} cannot be a schema's name, which has 1 to 63 bytes.`,
          )
        }
        return Effect.flatMap(store.add(schema), (outcome) => added(schema, outcome))
      }
      const list = Effect.map(store.list, (all) => all.filter((schema) => !isOurs(schema)))
      return SchemaGrants.of({ expose: change("expose"), hide: change("hide"), add, list })
    }),
  )
}

const isOurs = (schema: string) => /^(cabinet|cabinet_search|sources|information_schema|pg_.*)$/.test(schema)

const refuse = (code: SchemaGrantError["code"], message: string) => Effect.fail(new SchemaGrantError({ code, message }))

const noSuchSchema = (schema: string) =>
  refuse("no_such_schema", `The database has no schema ${JSON.stringify(schema)}.`)

const notMine = (schema: string, why: string, statements: ReadonlyArray<string>) =>
  refuse(
    "no_right",
    `The tables of ${schema} belong to another role (${why}). Let their owner run: ${statements.slice(0, 2).join("; ")};`,
  )

const added = (schema: string, outcome: AddOutcome): Effect.Effect<{ readonly author: string }, SchemaGrantError> => {
  switch (outcome.is) {
    case "exists":
      return refuse("schema_exists", `The database has a schema ${schema} already.`)
    case "no_author":
      return refuse("no_author", `The author role, which would own it, does not exist. ${outcome.reason}`)
    case "denied":
      return refuse(
        "no_right",
        `The cabinet's user may not create the schema ${schema} (${outcome.detail}). Let the database's owner run: ${outcome.statements.join("; ")};`,
      )
    case "added":
      return Effect.succeed({ author: outcome.author })
  }
}

const result = (what: GrantChange, schema: string, outcome: GrantOutcome): Returns => {
  switch (outcome.is) {
    case "no_schema":
      return noSuchSchema(schema)
    case "no_reader":
      return refuse("no_reader", `The reader role ${outcome.role} does not exist; \`cabinet doctor\` says why.`)
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
