/** `cabinet database url`: how psql, a program for reports or a notebook reads the data. */
import { ReportLogin, issuedReportLoginShape } from "@data-cabinet/core/row/ReportLogin"
import { reportLoginShape, type ReportLoginState } from "@data-cabinet/core/row/ReportLoginStore"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { report } from "../output/Report.ts"
import { format, withCabinet } from "./Root.ts"
import { EXAMPLES } from "./Examples.ts"

/** The login's rights besides reading, as lines. */
const beyondLines = ({ role, beyond }: ReportLoginState): ReadonlyArray<string> =>
  beyond.length === 0
    ? []
    : [
        "",
        `PostgreSQL lets ${role} do more than read. Let an administrator run this, after checking who else needs it:`,
        ...beyond.map(({ right, remedy }) => `  ${remedy};  -- it can ${right}`),
      ]

const url = Command.make(
  "url",
  {
    as: Flag.Literals("as", ["reader"]).pipe(
      Flag.withDescription("The rights of the login"),
      Flag.withDefault("reader" as const),
    ),
    rotate: Flag.Boolean("rotate").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Set a new password: the old one stops working, and open sessions end"),
      Flag.withDefault(false),
    ),
    revoke: Flag.Boolean("revoke").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Disable the login"),
      Flag.withDefault(false),
    ),
  },
  ({ rotate, revoke }) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const logins = yield* ReportLogin
        if (revoke) {
          const left = yield* logins.revoke()
          const words = `${left.role} can no longer log in.`
          return yield* report(yield* format, { ...reportLoginShape.json(left), password: null }, () => words)
        }
        const now = yield* logins.get
        if (now.active && now.url !== null && !rotate) {
          return yield* report(yield* format, { ...reportLoginShape.json(now), password: null }, () =>
            [
              now.url,
              "",
              "The password was shown when it was issued. For a new one, which ends the sessions of the old: cabinet database url --rotate",
              ...beyondLines(now),
            ].join("\n"),
          )
        }
        const issued = yield* logins.issue()
        yield* report(yield* format, issuedReportLoginShape.json(issued), (style) =>
          [
            style.bold(issued.url),
            "",
            "Save it now: the password will not be shown again. It reads every table and view that the API reads, and writes nothing.",
            ...beyondLines(issued),
          ].join("\n"),
        )
      }),
    ),
).pipe(Command.withDescription("Create a read-only database login for other programs, and print its URL once"))

export const databaseCommand = Command.make("database").pipe(
  Command.withExamples(EXAMPLES.database),
  Command.withDescription("Read the data with other programs"),
  Command.withSubcommands([url]),
)
