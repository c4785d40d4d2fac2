/** `cabinet sql [FILE | -c SQL]`: how a customer creates tables and views, and queries them, as the author role. */
import { AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { managed } from "@data-cabinet/core/audit/Managed"
import { scriptAct } from "@data-cabinet/core/acts/ScriptAct"
import { runScript, type StatementOutcome } from "@data-cabinet/store-pg/connection/AuthorSession"
import { splitStatements } from "@data-cabinet/store-pg/connection/SqlScript"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { EXAMPLES } from "./Examples.ts"
import { format, withDatabase } from "./Root.ts"
import { rowCells } from "./RowsCommand.ts"
import { readInput } from "./SecretInput.ts"

const namesOf = (rows: ReadonlyArray<string>): ReadonlyArray<string> => {
  const row = ownJson(rows[0] ?? "{}")
  return row instanceof Map ? [...row.keys()] : []
}

const outcomeText = ({ statement, rows, count }: StatementOutcome, style: Style): string => {
  const words = statement.replace(/^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)+/, "").split(/\s+/, 2)
  if (rows === null) {
    const verb = words.join(" ").toUpperCase()
    return style.dim(
      /^(INSERT|UPDATE|DELETE|MERGE|COPY)/.test(verb) ? `${words[0]!.toUpperCase()} ${count ?? ""}` : verb,
    )
  }
  const names = namesOf(rows)
  return columns(
    names,
    rows.map((row) => rowCells(row, names)),
    { style, none: "No rows." },
  )
}

/** A statement where the file's name belongs is a common slip. */
const orStatement = (file: string) => (error: CommandError) =>
  /\s/.test(file)
    ? new CommandError({ code: error.code, message: `${error.message} To run a statement: cabinet sql -c "…"` })
    : error

export const sqlCommand = Command.make(
  "sql",
  {
    file: Argument.String("FILE").pipe(
      Argument.withDescription("The script file; - (default) for standard input"),
      Argument.optional,
    ),
    command: Flag.String("command").pipe(
      Flag.withAlias("c"),
      Flag.withMetavar("SQL"),
      Flag.withDescription("The script itself; pass a script that contains a password as a FILE"),
      Flag.optional,
    ),
    transaction: Flag.Boolean("no-transaction").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Run each statement by itself, as VACUUM and CREATE INDEX CONCURRENTLY require"),
      Flag.withDefault(false),
      Flag.map((none) => !none),
    ),
  },
  ({ file, command, transaction }) =>
    Effect.gen(function* () {
      if (Option.isSome(file) && Option.isSome(command)) {
        return yield* new CommandError({ code: "usage", message: "Either a FILE or -c, not both." })
      }
      const script = Option.isSome(command)
        ? command.value
        : yield* readInput(
            Option.getOrElse(file, () => "-"),
            "The script",
          ).pipe(Effect.mapError(orStatement(Option.getOrElse(file, () => "-"))))
      yield* withDatabase({}, ({ roles: { author } }) =>
        Effect.gen(function* () {
          if (!author.there) return yield* new CommandError({ code: "refused", message: author.reason })
          const outcomes = yield* managed(
            yield* AuditLog,
            scriptAct(splitStatements(script)),
            runScript({ ...author, script, transaction }),
          )
          const value = outcomes.map(({ rows, count }) => ({
            rows: rows === null ? null : new JsonText(`[${rows.join(",")}]`),
            count,
          }))
          yield* report(yield* format, { results: value }, (style) =>
            outcomes.map((outcome) => outcomeText(outcome, style)).join("\n\n"),
          )
        }),
      )
    }),
).pipe(
  Command.withExamples(EXAMPLES.sql),
  Command.withDescription(
    "Run SQL as the author role, which may create tables and views; a script runs in one transaction",
  ),
)
