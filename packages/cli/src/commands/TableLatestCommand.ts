/** `cabinet table latest SCHEMA.NAME --key COLUMN`: a view of the latest row by key, created as the author. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { managed } from "@data-cabinet/core/audit/Managed"
import { scriptAct } from "@data-cabinet/core/audit/ScriptAct"
import { Tables } from "@data-cabinet/core/row/Tables"
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import { latestViewStatement } from "@data-cabinet/store-pg/row/LatestViewStatement"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { report } from "../output/Report.ts"
import { CommandError } from "./CommandError.ts"
import { objectNamed } from "./ObjectName.ts"
import { format, withDatabase } from "./Root.ts"

const MAX_KEYS = 32
/** PostgreSQL would cut a longer name. */
const MAX_NAME_BYTES = 63

const refuse = (message: string) => new CommandError({ code: "refused", message })

const yes = (name: string, about: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

export const latest = Command.make(
  "latest",
  {
    object: Argument.String("SCHEMA.NAME").pipe(Argument.withDescription("The table or view, such as sources.orders")),
    key: Flag.String("key").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription("What tells one thing from another; repeatable. Rows without it are left out"),
      Flag.between(1, MAX_KEYS),
    ),
    by: Flag.String("by").pipe(
      Flag.withMetavar("COLUMN"),
      Flag.withDescription("What tells which row is later; default: _event_id, which every source's table has"),
      Flag.withDefault("_event_id"),
    ),
    as: Flag.String("as").pipe(
      Flag.withMetavar("SCHEMA.NAME"),
      Flag.withDescription("The view's name; default: public.NAME_latest"),
      Flag.optional,
    ),
    replace: yes("replace", "Replace the view if there is one, which adds columns that the table got since"),
    dryRun: yes("dry-run", "Show the SQL, and create nothing"),
  },
  (input) =>
    withDatabase({}, ({ roles: { author } }) =>
      Effect.gen(function* () {
        const of = yield* objectNamed(input.object)
        const found = yield* Tables.use((tables) => tables.find(of.schema, of.name))
        if (Option.isNone(found)) return yield* refuse(`There is no readable table or view ${input.object}.`)
        const known = new Set(found.value.columns.map(({ name }) => name))
        const missing = [...input.key, input.by].find((name) => !known.has(name))
        if (missing !== undefined) return yield* refuse(`The object ${input.object} has no column ${missing}.`)
        const view = yield* objectNamed(Option.getOrElse(input.as, () => `public.${of.name}_latest`))
        if (Buffer.byteLength(view.name) > MAX_NAME_BYTES) {
          return yield* refuse(`The name of a view may have at most ${MAX_NAME_BYTES} bytes: give another with --as.`)
        }
        const sql = latestViewStatement({ of, keys: input.key, by: input.by, view, replace: input.replace })
        const name = `${view.schema}.${view.name}`
        const shown = yield* format
        if (input.dryRun) return yield* report(shown, { view: name, created: false, sql }, () => `${sql};`)
        if (!author.there) return yield* refuse(author.reason)
        const script = runScript({ ...author, script: sql, transaction: true })
        yield* managed(yield* AuditLog, scriptAct([sql]), script)
        yield* report(
          shown,
          { view: name, created: true, sql },
          () => `${name} has the latest row of ${input.object} for each ${input.key.join(", ")}.`,
        )
      }),
    ),
).pipe(Command.withDescription("Create a view of the latest row by key"))
