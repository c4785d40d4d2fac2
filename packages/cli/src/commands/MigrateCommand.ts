/** `cabinet migrate`: brings a database up to date, as every other command and `serve` also do. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { report } from "../output/Report.ts"
import { format, selectedDatabase, quietLog, settingFlags, settingsOf } from "./Root.ts"

export const migrateCommand = Command.make("migrate", settingFlags("readerUrl", "authorUrl"), (input) =>
  Effect.gen(function* () {
    const { settings } = yield* settingsOf(input)
    const json = yield* format
    yield* Effect.gen(function* () {
      const { applied, roles } = yield* selectedDatabase(settings)
      const off = [roles.reader, roles.author].flatMap((role) => (role.there ? [] : [role.reason]))
      const value = {
        applied,
        reader: roles.reader.there,
        author: roles.author.there,
        notes: off,
        administrator_sql: roles.administratorSql,
      }
      yield* report(json, value, (style) =>
        [
          applied.length === 0 ? "The schema is up to date." : `Applied ${applied.join(", ")}.`,
          ...off.map(style.yellow),
          // If reading is off, opening the database has already reported it.
          ...(roles.reader.there && roles.administratorSql !== null ? ["", roles.administratorSql] : []),
        ].join("\n"),
      )
    }).pipe(Effect.scoped, Effect.provide(quietLog(settings)))
  }),
).pipe(Command.withDescription("Migrate the database schema to the latest version"))
